/** All boards: how many players, which period, until when, and who leads. */

import { ApiError, getBoard, listBoards, listStandings } from "../api.js";
import { boardAddress } from "../address.js";
import { Countdown } from "../countdown.js";
import { el, name, setText } from "../dom.js";
import { emptyNotice, errorNotice, loadingRows } from "../notices.js";
import { groupDigits, isLong, plural } from "../numbers.js";
import { afterRollOver, periodWords, windowName } from "../times.js";
import { openingWindow } from "../windows.js";

/** @typedef {import("../api.js").Board} Board */
/** @typedef {import("../api.js").Standing} Standing */
/** @typedef {import("../app.js").Context} Context */

const LEADERS = 3;
const BOARDS_MAX = 240;
/** How often the next period is asked for, each time after twice the time: our clock may be ahead. */
const ROLL_OVER_TRIES = 8;

/** How often the list is asked for: the answer is short while nothing has changed. */
const LOOK_MS = 1_500;

export class BoardsView {
  #context;
  #list = el("ul", { class: "boards" });
  #rest = el("div", { class: "rest" });
  /** By board id, in the order of the list. @type {Map<string, BoardCard>} */
  #cards = new Map();
  /** Leads to the boards that are not shown yet. @type {string | null} */
  #next = null;
  /** @type {number | undefined} */
  #timer;
  #isClosed = false;

  /** @param {Context} context */
  constructor(context) {
    this.#context = context;
    context.setTitle("Boards");
    this.element = el("section", { class: "boards-page" }, el("h1", {}, "Boards"), this.#list, this.#rest);
    this.#rest.replaceChildren(loadingRows(3));
    this.#open();
  }

  /** @param {import("../address.js").Address} address */
  update(address) {
    return address.page === "boards";
  }

  close() {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const card of this.#cards.values()) card.close();
  }

  async #open() {
    try {
      const { boards, next } = await listBoards();
      if (this.#isClosed) return;
      this.#next = next;
      this.#show(boards, next);
      this.#lookAgain();
    } catch (error) {
      this.#rest.replaceChildren(errorNotice(error, () => this.#open()));
    }
  }

  /** See whether boards have come or gone, now and then while somebody looks. */
  #lookAgain() {
    if (this.#isClosed) return;
    this.#timer = setTimeout(async () => {
      try {
        if (document.hidden) return;
        const { boards, next } = await listBoards();
        if (this.#isClosed) return;
        if (this.#cards.size <= boards.length) this.#next = next;
        this.#show(boards, next);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error; // what is shown stays until it can be asked again
      } finally {
        this.#lookAgain();
      }
    }, LOOK_MS);
  }

  async #loadMore() {
    const from = /** @type {string} */ (this.#next);
    try {
      const { boards, next } = await listBoards(from);
      if (this.#isClosed) return;
      this.#next = next;
      this.#show(boards, next, from);
    } catch (error) {
      this.#rest.replaceChildren(errorNotice(error, () => this.#loadMore()));
    }
  }

  /**
   * Show these boards in place of all that were shown between their two ends.
   * @param {Board[]} boards
   * @param {string | null} next where they end; null at the end of all
   * @param {string} [from] after which they begin
   */
  #show(boards, next, from = "") {
    const there = new Map(boards.map((board) => [board.id, board]));
    for (const [id, card] of this.#cards) {
      const isWithin = id > from && (next === null || id <= next);
      const board = there.get(id);
      if (!isWithin || (board !== undefined && card.shows(board))) continue;
      card.close();
      card.element.remove();
      this.#cards.delete(id);
    }
    for (const board of boards) if (!this.#cards.has(board.id)) this.#add(board);
    this.#showRest();
  }

  /** @param {Board} board */
  #add(board) {
    const card = new BoardCard(this.#context, board);
    const following = [...this.#cards].find(([id]) => id > board.id)?.[1].element ?? null;
    this.#list.insertBefore(card.element, following);
    this.#cards = new Map([...this.#cards, /** @type {[string, BoardCard]} */ ([board.id, card])].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #showRest() {
    const more = () => this.#loadMore();
    if (this.#cards.size === 0) {
      this.#rest.replaceChildren(emptyNotice("No boards yet", el("p", {}, "Create one with a single request: ", el("code", {}, "PUT /v1/boards/your-board"))));
    } else if (this.#next !== null && this.#cards.size < BOARDS_MAX) {
      if (this.#rest.querySelector(".more") === null) this.#rest.replaceChildren(el("button", { class: "button more", type: "button", on: { click: more } }, "Show more boards"));
    } else {
      this.#rest.replaceChildren();
    }
  }
}

class BoardCard {
  #size = el("p", { class: "size" }, "\u00a0");
  #period = el("p", { class: "period" }, "\u00a0");
  #clock = new Countdown(() => this.#rollOver());
  #leaders = el("ol", { class: "leaders" });
  #id;
  #rules;
  #window;
  /** The period that is shown, and its state. */
  #shown = "";
  #unwatch = () => {};
  #isClosed = false;

  /** @param {Context} context @param {Board} board */
  constructor(context, board) {
    this.#id = board.id;
    this.#rules = JSON.stringify(board);
    this.element = el(
      "li",
      { class: "card board-card" },
      el("h2", {}, el("a", { href: boardAddress({ page: "board", board: board.id }) }, name(board.title || board.id))),
      this.#size,
      this.#leaders,
      el("div", { class: "closing" }, this.#period, this.#clock.element),
    );
    this.#window = openingWindow(board);
    this.#load(context);
  }

  /** Whether the board is still as it was. @param {Board} board */
  shows(board) {
    return this.#rules === JSON.stringify(board);
  }

  close() {
    this.#isClosed = true;
    this.#clock.stop();
    this.#unwatch();
  }

  /** @param {Context} context */
  async #load(context) {
    const window = this.#window;
    try {
      const [board, page] = await Promise.all([getBoard(this.#id), listStandings(this.#id, { window }, { limit: LEADERS })]);
      if (this.#isClosed) return;
      this.#showPeriod(board);
      this.#showTop(page);
      this.#unwatch = context.live.watch({ board: this.#id, window, top: LEADERS }, (message) => {
        if (message.type === "top") this.#showTop(/** @type {any} */ (message));
        if (message.type === "period") this.#rollOver();
      });
    } catch {
      setText(this.#size, "could not be loaded");
    }
  }

  /** The period that is shown seems to have opened or ended: see which one it is now, until something changed. */
  #rollOver(over = this.#shown, tries = 0) {
    if (tries === ROLL_OVER_TRIES) return;
    afterRollOver(async () => {
      if (this.#isClosed || this.#shown !== over) return;
      const board = await getBoard(this.#id).catch(() => null);
      if (board !== null) this.#showPeriod(board);
      this.#rollOver(over, tries + 1);
    }, 2 ** tries);
  }

  /** @param {Board} board */
  #showPeriod(board) {
    const period = board.periods[this.#window];
    const shown = `${period.period} ${period.state}`;
    if (this.#isClosed || shown === this.#shown) return;
    this.#shown = shown;
    setText(this.#period, [windowName(this.#window), ...periodWords(period, board.timezone)].join(" · "));
    this.#clock.show(period);
  }

  /** @param {{total: number, standings: Standing[]}} top */
  #showTop({ total, standings }) {
    setText(this.#size, total === 0 ? "No scores yet" : plural(total, "player"));
    this.#leaders.replaceChildren(
      ...standings.map((standing) =>
        el(
          "li",
          { "data-medal": standing.rank },
          el("span", { class: "medal" }, standing.rank),
          name(standing.name ?? standing.player, { class: "leader-name" }),
          el("span", { class: isLong(standing.score) ? "leader-score long" : "leader-score" }, groupDigits(standing.score)),
        ),
      ),
    );
  }
}
