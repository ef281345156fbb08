/** The page: a bar, one of four views below it, and the way between them. */

import { parseAddress } from "./address.js";
import { el, setText } from "./dom.js";
import { currentKey, keepKey, me } from "./keyring.js";
import { Live } from "./live.js";
import { emptyNotice, signInForm } from "./notices.js";
import { BoardView } from "./pages/board.js";
import { BoardsView } from "./pages/boards.js";
import { ModerationView } from "./pages/moderation.js";
import { PlayerView } from "./pages/player.js";
import { nextTheme, restoreTheme } from "./themes.js";

/** @typedef {import("./address.js").Address} Address */
/**
 * @typedef {Object} View what one address shows
 * @property {HTMLElement} element
 * @property {(address: Address) => boolean} update show another address; false if it cannot
 * @property {() => void} close
 */
/**
 * @typedef {Object} Context what views need of the page
 * @property {Live} live
 * @property {(address: string) => void} go
 * @property {(title: string) => void} setTitle
 */

const VIEWS = { boards: BoardsView, board: BoardView, player: PlayerView, moderation: ModerationView };
const STATES = { idle: "", connecting: "Connecting", live: "Live", offline: "Offline" };

const main = /** @type {HTMLElement} */ (document.getElementById("main"));
const offline = /** @type {HTMLElement} */ (document.getElementById("offline"));
const badge = el("span", { class: "badge" });
const forget = el("button", { class: "button quiet", type: "button", on: { click: forgetKey } }, "Sign out");
const signIn = el("button", { class: "button quiet", type: "button", on: { click: showSignIn } }, "Sign in");
const theme = el("button", { class: "button quiet", type: "button", on: { click: () => setText(theme, nextTheme()) } }, restoreTheme());

/** @type {View | null} */
let view = null;
const live = new Live(showState);
/** @type {Context} */
const context = { live, go, setTitle: (title) => (document.title = `${title} · Toprung`) };

/** @param {import("./live.js").LiveState} state */
function showState(state) {
  badge.dataset.state = state;
  setText(badge, STATES[state]);
  setText(offline, state === "offline" ? "Offline, reconnecting …" : "");
}

function forgetKey() {
  keepKey(null);
  keyChanged();
  show({ isFresh: true });
}

function keyChanged() {
  showKeys();
  live.restart();
}

function showKeys() {
  forget.hidden = currentKey() === null;
  signIn.hidden = !forget.hidden;
  setText(forget, me() === null ? "Sign out" : `Sign out ${me()}`);
}

function showSignIn() {
  view?.close();
  view = null;
  main.replaceChildren(signInForm(() => show({ isFresh: true })));
}

/** @param {string} address */
function go(address) {
  if (address !== location.pathname + location.search) history.pushState(null, "", address);
  show({ isOurs: true });
}

/** @param {{isFresh?: boolean, isOurs?: boolean}} [how] fresh: build it anew; ours: a link was followed */
function show({ isFresh = false, isOurs = false } = {}) {
  const address = parseAddress(location);
  document.documentElement.dataset.view = address.view ?? address.page;
  if (!isFresh && view?.update(address)) return;
  view?.close();
  const Kind = VIEWS[/** @type {keyof VIEWS} */ (address.page)];
  view = Kind === undefined ? null : new Kind(context, address);
  main.replaceChildren(view?.element ?? emptyNotice("Page not found", el("a", { class: "button", href: "/" }, "All boards")));
  if (!isOurs) return;
  scrollTo(0, 0);
  main.focus({ preventScroll: true });
}

/** Follow links within the page without loading it again. @param {MouseEvent} event */
function follow(event) {
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (link === null || !isPlain || event.defaultPrevented) return;
  const url = new URL(link.href);
  if (url.origin !== location.origin || url.hash || parseAddress(url).page === "nowhere") return;
  event.preventDefault();
  go(url.pathname + url.search);
}

document.getElementById("bar")?.append(
  el("a", { class: "brand", href: "/" }, el("span", { class: "mark", "aria-hidden": "true" }), "Toprung"),
  el("span", { class: "bar-end" }, badge, el("a", { class: "button quiet", href: "/moderation" }, "Moderation"), el("a", { class: "button quiet", href: "/docs" }, "API"), signIn, forget, theme),
);
addEventListener("popstate", () => show());
addEventListener("toprung:key", keyChanged);
document.addEventListener("click", follow);
showKeys();
showState("idle");
show();
