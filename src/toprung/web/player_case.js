/** One player as moderators see them: restricted or not, and every submission with what became of it. */

import { playerAddress } from "./address.js";
import { el, name } from "./dom.js";
import { findRestriction, lift, listCase, restrict, revoke } from "./moderation_api.js";
import { emptyNotice, errorNotice, loadingRows } from "./notices.js";
import { formatCount, groupDigits } from "./numbers.js";
import { formatMoment, windowName } from "./times.js";

/** @typedef {import("./moderation_api.js").CaseSubmission} CaseSubmission */
/** @typedef {import("./moderation_api.js").Restriction} Restriction */
/** @typedef {import("./moderation_api.js").Revocation} Revocation */

const KINDS = {
  shadow: "Shadow: nobody else sees the scores",
  hidden: "Hidden: has no rank",
  banned: "Banned: hidden, and scores are refused",
};
const OUTCOMES = { accepted: "counted", unchanged: "no change", pending: "waits for a verdict", rejected: "rejected" };

export class PlayerCase {
  #board;
  #player;
  #say;
  /** @type {CaseSubmission[]} */
  #submissions = [];
  /** @type {string | null} */
  #next = null;
  #restriction = el("section", { class: "card", "aria-label": "Restriction" }, loadingRows(2));
  #list = el("section", { class: "card", "aria-label": "Submissions" }, loadingRows());
  #preview = el("section", { class: "card", "aria-label": "Revoke", hidden: true, tabindex: "-1" });
  element = el("div", {}, this.#restriction, this.#preview, this.#list);

  /** @param {string} board @param {string} player @param {(text: string) => void} say */
  constructor(board, player, say) {
    this.#board = board;
    this.#player = player;
    this.#say = say;
    this.#loadRestriction();
    this.#loadSubmissions();
  }

  async #loadRestriction() {
    try {
      const found = await findRestriction(this.#player);
      this.#restriction.replaceChildren(el("h2", {}, el("a", { href: playerAddress({ page: "player", board: this.#board, player: this.#player }) }, name(this.#player))), found === null ? this.#restrictForm() : this.#shown(found));
    } catch (error) {
      this.#restriction.replaceChildren(errorNotice(error, () => this.#loadRestriction()));
    }
  }

  /** @param {Restriction} found */
  #shown(found) {
    const where = found.boards.includes("*") ? "on all boards" : `on ${found.boards.join(", ")}`;
    const end = found.until === undefined ? "until it is lifted" : `until ${formatMoment(found.until)}`;
    const undo = () => this.#act(() => lift(this.#player), "The restriction is lifted.");
    return el(
      "div",
      {},
      el("p", {}, el("b", {}, KINDS[found.kind]), ` ${where}, ${end}.`),
      el("p", { class: "small" }, `Since ${formatMoment(found.at)}: `, name(found.reason)),
      el("button", { class: "button", type: "button", on: { click: undo } }, "Lift"),
    );
  }

  #restrictForm() {
    const kind = /** @type {HTMLSelectElement} */ (el("select", { id: "restrict-kind", class: "field" }, ...Object.entries(KINDS).map(([value, label]) => el("option", { value }, label))));
    const boards = field("restrict-boards", { required: true, value: "*" });
    const until = field("restrict-until", { type: "datetime-local" });
    const reason = field("restrict-reason", { required: true, maxlength: 500, placeholder: "kept for good; name nobody" });
    const submit = (/** @type {Event} */ event) => {
      event.preventDefault();
      const restriction = {
        kind: kind.value,
        boards: boards.value.split(/[\s,]+/).filter(Boolean),
        until: until.value === "" ? null : new Date(until.value).toISOString(),
        reason: reason.value.trim(),
      };
      this.#act(() => restrict(this.#player, restriction), "The player is restricted.");
    };
    return el(
      "form",
      { class: "tools", on: { submit } },
      labelled("Restrict", kind),
      labelled("Boards", boards),
      labelled("Until (your time)", until),
      labelled("Reason", reason),
      el("button", { class: "button primary" }, "Restrict"),
    );
  }

  /** Do something to the player, and show what is true then. @param {() => Promise<unknown>} change @param {string} done */
  async #act(change, done) {
    try {
      await change();
      this.#say(done);
    } catch (error) {
      return this.#say(error instanceof Error ? error.message : String(error));
    }
    await this.#loadRestriction();
  }

  async #loadSubmissions() {
    try {
      const { submissions, next } = await listCase(this.#board, this.#player);
      this.#submissions = submissions;
      this.#next = next;
      this.#showSubmissions();
    } catch (error) {
      this.#list.replaceChildren(errorNotice(error, () => this.#loadSubmissions()));
    }
  }

  async #loadMore() {
    const { submissions, next } = await listCase(this.#board, this.#player, this.#next ?? undefined);
    this.#submissions.push(...submissions);
    this.#next = next;
    this.#showSubmissions();
  }

  #showSubmissions() {
    const title = el("h2", {}, "Submissions");
    if (this.#submissions.length === 0) return this.#list.replaceChildren(title, emptyNotice("No submissions here"));
    const head = el("tr", {}, ...["When", "Score", "Outcome", ""].map((text) => el("th", { scope: "col" }, text)));
    const table = el("table", { class: "case" }, el("caption", {}, "Submissions, newest first"), el("thead", {}, head), el("tbody", {}, ...this.#submissions.map((each) => this.#row(each))));
    const more = this.#next !== null && el("button", { class: "button", type: "button", on: { click: () => this.#loadMore() } }, "Show more");
    this.#list.replaceChildren(title, el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Submissions" }, table), more || "");
  }

  /** @param {CaseSubmission} each */
  #row(each) {
    const isOpen = each.revoked_at === undefined && (each.status === "accepted" || each.status === "unchanged");
    const ask = () => this.#showPreview(each);
    return el(
      "tr",
      { "data-submission": each.submission },
      el("td", { class: "when" }, formatMoment(each.at)),
      el("td", { class: "score" }, groupDigits(each.score)),
      el("td", {}, ...outcome(each)),
      el("td", {}, isOpen && el("button", { class: "button", type: "button", on: { click: ask } }, "Revoke …")),
    );
  }

  /** What would move, and a button to do it. @param {CaseSubmission} each */
  async #showPreview(each) {
    const reason = field("revoke-reason", { required: true, maxlength: 500, placeholder: "kept for good; name nobody" });
    const close = () => (this.#preview.hidden = true);
    const submit = async (/** @type {Event} */ event) => {
      event.preventDefault();
      try {
        await revoke(each.submission, reason.value.trim(), false);
      } catch (error) {
        return this.#say(error instanceof Error ? error.message : String(error));
      }
      close();
      this.#say(`Revoked: ${groupDigits(each.score)}`);
      await this.#loadSubmissions();
    };
    try {
      const found = await revoke(each.submission, "preview", true);
      this.#preview.hidden = false;
      this.#preview.replaceChildren(
        el("h2", {}, `Revoke ${groupDigits(each.score)} of ${formatMoment(each.at)}?`),
        moves(found),
        el("form", { class: "tools", on: { submit } }, labelled("Reason", reason), el("button", { class: "button primary" }, "Revoke"), el("button", { class: "button", type: "button", on: { click: close } }, "Cancel")),
      );
      reason.focus();
    } catch (error) {
      this.#say(error instanceof Error ? error.message : String(error));
    }
  }
}

/** @param {CaseSubmission} each @returns {import("./dom.js").Child[]} */
function outcome({ status, reasons = [], verdict, revoked_at, reason }) {
  const words = OUTCOMES[/** @type {keyof OUTCOMES} */ (status)] ?? status;
  const why = reasons.length > 0 && ` (${reasons.join(", ")})`;
  if (revoked_at !== undefined) return [el("s", {}, words), ` revoked ${formatMoment(revoked_at)}: `, name(reason ?? "")];
  if (verdict !== undefined) return [words, why, `; ${verdict.verdict}`, verdict.by && " by ", verdict.by && name(verdict.by), verdict.reason && ": ", verdict.reason && name(verdict.reason)];
  return [words, why];
}

/** @param {Revocation} found */
function moves({ windows, settled = {} }) {
  const place = (/** @type {string | null} */ score, /** @type {number | null} */ rank) => (score === null ? "no entry" : `${groupDigits(score)}${rank === null ? "" : `, #${formatCount(rank)}`}`);
  const rows = windows.map((each) => el("li", {}, `${windowName(each.window)}: ${place(each.score_before, each.rank_before)} → ${place(each.score, each.rank)}`));
  const kept = Object.keys(settled).map((window) => el("li", {}, `${windowName(window)} is settled and stays as it is`));
  if (rows.length + kept.length === 0) return el("p", {}, "No entry changes: other submissions are as good.");
  return el("ul", { class: "moves" }, ...rows, ...kept);
}

/** @param {string} id @param {import("./dom.js").Props} props */
function field(id, props) {
  return /** @type {HTMLInputElement} */ (el("input", { id, class: "field", autocomplete: "off", ...props }));
}

/** @param {string} label @param {HTMLElement} control */
function labelled(label, control) {
  return el("div", { class: "choice" }, el("label", { for: control.id }, label), control);
}
