/** For moderators: what waits for a verdict, one player's case, and what was administered. */

import { moderationAddress } from "../address.js";
import { findPlayers } from "../api.js";
import { AuditList } from "../audit_list.js";
import { Announcement, askForm } from "../controls.js";
import { el } from "../dom.js";
import { Finder } from "../finder.js";
import { emptyNotice } from "../notices.js";
import { PlayerCase } from "../player_case.js";
import { ReviewQueue } from "../review_queue.js";

/** @typedef {import("../address.js").Address} Address */
/** @typedef {import("../address.js").Part} Part */
/** @typedef {import("../app.js").Context} Context */

/** @type {[Part, string][]} */
const PARTS = [["review", "Review queue"], ["player", "Player"], ["audit", "Audit log"]];

export class ModerationView {
  #context;
  /** @type {Address} */
  #address;
  /** @type {Finder | null} */
  #finder = null;
  #news = new Announcement();
  #tabs = el("div");
  #tools = el("div", { class: "tools" });
  #part = el("div");
  element = el("article", { class: "moderation-page" }, el("header", { class: "hero" }, el("div", { class: "hero-text" }, el("h1", {}, "Moderation"), el("p", { class: "facts" }, "Needs a key that allows read and moderate on all boards; the audit log needs admin."))), this.#tabs, this.#tools, this.#news.element, this.#part);

  /** @param {Context} context @param {Address} address */
  constructor(context, address) {
    this.#context = context;
    this.#address = address;
    context.setTitle("Moderation");
    this.#show();
  }

  /** @param {Address} address */
  update(address) {
    if (address.page !== "moderation") return false;
    this.#address = address;
    this.#show();
    return true;
  }

  close() {
    this.#finder?.close();
  }

  #show() {
    const { part: current = "review", board, player } = this.#address;
    this.#news.say("");
    const links = PARTS.map(([part, label]) => el("a", { href: moderationAddress({ part, board, player }), "aria-current": part === current && "page" }, label));
    this.#tabs.replaceChildren(el("nav", { class: "tabs", "aria-label": "Moderation" }, ...links));
    this.#showTools(current);
    this.#part.replaceChildren(this.#shown(current));
  }

  /** @param {Part} part */
  #showTools(part) {
    const { board } = this.#address;
    this.#finder?.close();
    this.#finder = null;
    const choose = askForm({
      label: part === "player" ? "Board" : "Only one board",
      action: "Show",
      attributes: { value: board ?? "", required: part === "player", placeholder: part === "player" ? "board id" : "all boards" },
      go: (text) => this.#context.go(moderationAddress({ part, board: text.trim() || undefined })),
    });
    this.#tools.replaceChildren(choose);
    if (part !== "player" || board === undefined) return;
    const go = (/** @type {string} */ player) => this.#context.go(moderationAddress({ part, board, player }));
    this.#finder = new Finder((text) => findPlayers(board, text, {}), go, this.#address.player);
    this.#tools.append(this.#finder.element);
  }

  /** @param {Part} part */
  #shown(part) {
    const { board, player } = this.#address;
    const say = (/** @type {string} */ text) => this.#news.say(text);
    if (part === "audit") return new AuditList(board).element;
    if (part === "review") return new ReviewQueue(board, say).element;
    if (board === undefined || player === undefined) return emptyNotice("Choose a board and a player");
    return new PlayerCase(board, player, say).element;
  }
}
