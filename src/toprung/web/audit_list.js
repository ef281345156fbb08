/** What was administered: who did what, when and why, newest first. */

import { el, name } from "./dom.js";
import { listActs } from "./moderation_api.js";
import { emptyNotice, errorNotice, loadingRows } from "./notices.js";
import { formatMoment } from "./times.js";

/** @typedef {import("./moderation_api.js").Act} Act */

export class AuditList {
  #board;
  /** @type {Act[]} */
  #acts = [];
  /** @type {string | null} */
  #next = null;
  element = el("section", { class: "card", "aria-label": "Audit log" }, loadingRows());

  /** @param {string | undefined} board only acts on this one */
  constructor(board) {
    this.#board = board;
    this.#load();
  }

  async #load() {
    try {
      const { acts, next } = await listActs({ board: this.#board, cursor: this.#next ?? undefined });
      this.#acts.push(...acts);
      this.#next = next;
      this.#show();
    } catch (error) {
      this.element.replaceChildren(errorNotice(error, () => this.#load()));
    }
  }

  #show() {
    if (this.#acts.length === 0) return this.element.replaceChildren(emptyNotice("Nothing has been administered yet"));
    const head = el("tr", {}, ...["When", "Who", "What", "Why"].map((text) => el("th", { scope: "col" }, text)));
    const table = el("table", { class: "case" }, el("caption", {}, "Acts of administration, newest first"), el("thead", {}, head), el("tbody", {}, ...this.#acts.map(row)));
    const more = this.#next !== null && el("button", { class: "button", type: "button", on: { click: () => this.#load() } }, "Show more");
    this.element.replaceChildren(el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Audit log" }, table), more || "");
  }
}

/** @param {Act} act */
function row(act) {
  const what = [act.board, act.player, act.subject].filter((each) => each !== null && each !== undefined);
  return el(
    "tr",
    {},
    el("td", { class: "when" }, formatMoment(act.at)),
    el("td", {}, act.actor, act.actor_id !== "" && " ", act.actor_id !== "" && name(act.actor_id)),
    el("td", {}, act.act, ...what.flatMap((each) => [" ", name(/** @type {string} */ (each))])),
    el("td", {}, name(act.reason)),
  );
}
