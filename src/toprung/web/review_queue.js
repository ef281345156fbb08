/** Submissions that wait for a verdict: one is selected, and decided with a key or a button. */

import { boardAddress, moderationAddress } from "./address.js";
import { el, name } from "./dom.js";
import { decide, listReview } from "./moderation_api.js";
import { emptyNotice, errorNotice, loadingRows } from "./notices.js";
import { formatCount, groupDigits } from "./numbers.js";
import { formatMoment } from "./times.js";

/** @typedef {import("./moderation_api.js").Pending} Pending */

const WHY = {
  top: "would be among the first",
  anomaly: "far from what others reach",
  "own-anomaly": "far from what the player reaches",
  "first-by": "would lead by far",
  restricted: "the player is restricted",
};
const STEPS = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };
/** @type {Object<string, "accept" | "reject">} */
const VERDICTS = { a: "accept", r: "reject" };

export class ReviewQueue {
  /** @type {Pending[]} */
  #waiting = [];
  /** @type {string | null} */
  #next = null;
  #selected = 0;
  #isBusy = false;
  #board;
  #say;
  #reason = /** @type {HTMLInputElement} */ (el("input", { id: "verdict-reason", class: "field", maxlength: 500, autocomplete: "off", placeholder: "kept for good; name nobody" }));
  #list = el("div", {}, loadingRows());
  element = el(
    "section",
    { class: "card", "aria-label": "Review queue", on: { keydown: (/** @type {KeyboardEvent} */ event) => this.#press(event) } },
    el("p", { class: "small" }, keyHint("j"), keyHint("k"), " move, ", keyHint("a"), " accepts, ", keyHint("r"), " rejects."),
    el("div", { class: "choice" }, el("label", { for: "verdict-reason" }, "Reason"), this.#reason),
    this.#list,
  );

  /** @param {string | undefined} board only this one @param {(text: string) => void} say */
  constructor(board, say) {
    this.#board = board;
    this.#say = say;
    this.#load();
  }

  async #load() {
    try {
      const { submissions, next } = await listReview({ board: this.#board });
      this.#waiting = submissions;
      this.#next = next;
      this.#show();
    } catch (error) {
      this.#list.replaceChildren(errorNotice(error, () => this.#load()));
    }
  }

  #show() {
    if (this.#waiting.length === 0) return this.#list.replaceChildren(emptyNotice("Nothing waits for a verdict"));
    this.#selected = Math.min(this.#selected, this.#waiting.length - 1);
    const rows = this.#waiting.map((pending, index) => this.#row(pending, index));
    const more = this.#next !== null && el("p", { class: "small" }, "More wait behind these.");
    this.#list.replaceChildren(el("ol", { class: "queue" }, ...rows), more || "");
  }

  /** @param {Pending} pending @param {number} index */
  #row(pending, index) {
    const { submission, board, player, score, best, provisional_rank: rank } = pending;
    const isSelected = index === this.#selected;
    const button = (/** @type {"accept" | "reject"} */ verdict, /** @type {string} */ label) =>
      el("button", { class: `button ${verdict === "accept" ? "primary" : ""}`, type: "button", on: { click: () => this.#decide(index, verdict) } }, label);
    return el(
      "li",
      { tabindex: isSelected ? "0" : "-1", "data-submission": submission, "aria-current": isSelected && "true", on: { focus: () => this.#select(index, false) } },
      el(
        "div",
        {},
        el("p", { class: "queue-score" }, el("b", {}, groupDigits(score)), " by ", el("a", { href: moderationAddress({ part: "player", board, player }) }, name(pending.name ?? player)), " on ", el("a", { href: boardAddress({ page: "board", board }) }, board)),
        el("p", { class: "small" }, [...pending.reasons.map((reason) => WHY[/** @type {keyof WHY} */ (reason)] ?? reason), ...(rank ? [`would be #${formatCount(rank)}`] : []), ...(best ? [`the best is ${groupDigits(best)}`] : [])].join(" · ")),
        el("p", { class: "small" }, `made ${formatMoment(pending.at)} · without a verdict: ${pending.otherwise === "accept" ? "accepted" : "rejected"} on ${formatMoment(pending.expires_at)}`, pending.claimed_by !== undefined && " · claimed by ", pending.claimed_by !== undefined && name(pending.claimed_by)),
      ),
      el("div", { class: "queue-buttons" }, button("accept", "Accept"), button("reject", "Reject")),
    );
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    const isTyping = event.target instanceof HTMLInputElement;
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = STEPS[/** @type {keyof STEPS} */ (event.key)];
    const verdict = VERDICTS[event.key];
    if (step === undefined && verdict === undefined) return;
    event.preventDefault();
    if (step !== undefined) this.#select(this.#selected + step, true);
    else this.#decide(this.#selected, verdict);
  }

  /** @param {number} index @param {boolean} takesFocus */
  #select(index, takesFocus) {
    const rows = /** @type {HTMLElement[]} */ ([...this.#list.querySelectorAll(".queue > li")]);
    this.#selected = Math.max(0, Math.min(index, rows.length - 1));
    rows.forEach((row, at) => {
      row.tabIndex = at === this.#selected ? 0 : -1;
      row.toggleAttribute("aria-current", at === this.#selected);
    });
    if (takesFocus) rows[this.#selected]?.focus();
  }

  /** @param {number} index @param {"accept" | "reject"} verdict */
  async #decide(index, verdict) {
    const pending = this.#waiting[index];
    if (pending === undefined || this.#isBusy) return;
    this.#isBusy = true;
    try {
      await decide(pending.submission, verdict, this.#reason.value.trim());
      this.#say(`${verdict === "accept" ? "Accepted" : "Rejected"}: ${groupDigits(pending.score)} by ${pending.name ?? pending.player}`);
      this.#waiting.splice(index, 1);
      if (this.#waiting.length === 0 && this.#next !== null) await this.#load();
      else this.#show();
      this.#select(index, true);
    } catch (error) {
      this.#say(error instanceof Error ? error.message : String(error));
    } finally {
      this.#isBusy = false;
    }
  }
}

/** @param {string} key */
function keyHint(key) {
  return el("kbd", {}, key);
}
