/** All boards: how many players, which period, until when, and who leads. */

import { getBoard, listBoards, listStandings } from "../api.js";
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

export class BoardsView {
  #context;
  #list = el("ul", { class: "boards" });
  #rest = el("div", { class: "rest" });
  /** @type {BoardCard[]} */
  #cards = [];

  /** @param {Context} context */
  constructor(context) {
    this.#context = context;
    context.setTitle("Boards");
    this.element = el("section", { class: "boards-page" }, el("h1", {}, "Boards"), this.#list, this.#rest);
    this.#load();
  }

  /** @param {import("../address.js").Address} address */
  update(address) {
    return address.page === "boards";
  }

  close() {
    for (const card of this.#cards) card.close();
  }

  /** @param {string} [cursor] */
  async #load(cursor) {
    this.#rest.replaceChildren(loadingRows(3));
    try {
      const { boards, next } = await listBoards(cursor);
      this.#rest.replaceChildren();
      for (const board of boards) this.#add(board);
      if (next !== null && this.#cards.length < BOARDS_MAX) {
        this.#rest.append(el("button", { class: "button", type: "button", on: { click: () => this.#load(next) } }, "Show more boards"));
      }
      if (this.#cards.length === 0) {
        this.#rest.append(emptyNotice("No boards yet", el("p", {}, "A board begins with one request: ", el("code", {}, "PUT /v1/boards/your-board"))));
      }
    } catch (error) {
      this.#rest.replaceChildren(errorNotice(error, () => this.#load(cursor)));
    }
  }

  /** @param {Board} board */
  #add(board) {
    const card = new BoardCard(this.#context, board);
    this.#cards.push(card);
    this.#list.append(card.element);
  }
}

class BoardCard {
  #size = el("p", { class: "size" }, "\u00a0");
  #period = el("p", { class: "period" }, "\u00a0");
  #clock = new Countdown(() => this.#rollOver());
  #leaders = el("ol", { class: "leaders" });
  #id;
  #window;
  /** The period that is shown. */
  #shown = "";
  #unwatch = () => {};
  #isClosed = false;

  /** @param {Context} context @param {Board} board */
  constructor(context, board) {
    this.#id = board.id;
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
      setText(this.#size, "cannot be read at the moment");
    }
  }

  /** The period that is shown seems to be over: see which one is open, until it is another one. */
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
    if (this.#isClosed || period.period === this.#shown) return;
    this.#shown = period.period;
    setText(this.#period, [windowName(this.#window), ...periodWords(period, board.timezone)].join(" · "));
    this.#clock.show(period.closes_at);
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
