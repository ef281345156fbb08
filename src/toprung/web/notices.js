/** What stands where data would: while it is on its way, when there is none, when something failed. */

import { ApiError } from "./api.js";
import { el } from "./dom.js";
import { currentKey, keepKey } from "./keyring.js";

/** @param {string} title @param {...import("./dom.js").Child} more */
export function emptyNotice(title, ...more) {
  return el("div", { class: "notice" }, ladderMark(), el("p", { class: "notice-title" }, title), ...more);
}

/** Rows that are not there yet. @param {number} [count] */
export function loadingRows(count = 8) {
  const rows = Array.from({ length: count }, () => el("span", { class: "skeleton" }));
  return el("div", { class: "loading", role: "status", "aria-label": "Loading" }, ...rows);
}

/**
 * What went wrong, and what can be done about it.
 * @param {unknown} error
 * @param {() => void} retry
 */
export function errorNotice(error, retry) {
  if (!(error instanceof ApiError)) console.error(error);
  const status = error instanceof ApiError ? error.status : -1;
  if (status === 401 || status === 403) return keyForm(status, retry);
  const again = el("button", { class: "button", type: "button", on: { click: retry } }, "Try again");
  if (status === 0) return emptyNotice("The service cannot be reached", el("p", {}, "This page will reconnect on its own."), again);
  if (status === 404 || status === 410) {
    return emptyNotice(status === 404 ? "Not found" : "No longer available", el("p", {}, sentence(/** @type {Error} */ (error).message)), el("a", { class: "button", href: "/" }, "All boards"));
  }
  const title = status === 503 ? "Not available at the moment" : "Something went wrong";
  return emptyNotice(title, el("p", {}, error instanceof Error ? sentence(error.message) : ""), again);
}

/** @param {number} status @param {() => void} retry */
function keyForm(status, retry) {
  const why =
    status === 403 ? "This key or token does not have access here."
    : currentKey() === null ? "Enter a key with access, or your token as a player. Public boards need none."
    : "This key or token is not valid, or has expired.";
  return signInForm(retry, "A key is needed", why);
}

/**
 * Where a viewer shows a key or a token.
 * @param {() => void} done
 * @param {string} [title]
 * @param {string} [why]
 */
export function signInForm(done, title = "Sign in", why = "With your token as a player, or with an access key.") {
  const input = /** @type {HTMLInputElement} */ (
    el("input", { id: "key", type: "password", autocomplete: "off", required: true, spellcheck: "false", class: "field" })
  );
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    keepKey(input.value.trim());
    dispatchEvent(new Event("toprung:key"));
    done();
  };
  return el(
    "form",
    { class: "notice", on: { submit } },
    ladderMark(),
    el("p", { class: "notice-title" }, title),
    el("p", {}, why),
    el("label", { for: "key" }, "Access key or token"),
    el("div", { class: "joined" }, input, el("button", { class: "button primary" }, "Open")),
    el("p", { class: "small" }, "It stays in this tab and is forgotten when you close it."),
  );
}

function ladderMark() {
  return el("span", { class: "mark", "aria-hidden": "true" });
}

/** @param {string} text */
function sentence(text) {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}
