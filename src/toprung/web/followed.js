/** Beside a ladder: the player whom the viewer follows, and how the scores of all spread. */

import { playerAddress } from "./address.js";
import { ApiError, getDistribution } from "./api.js";
import { el, name } from "./dom.js";
import { formatCount, formatTopPercent, groupDigits, percentileWords } from "./numbers.js";
import { distributionPlot } from "./plots.js";
import { throttled } from "./times.js";

/** @typedef {import("./api.js").Place} Place */
/** @typedef {import("./address.js").Ladder} Ladder */

const SPREAD_MS = 5_000;

export class Followed {
  #you = el("section", { class: "card you", "aria-label": "Selected player", hidden: true });
  #spread = el("section", { class: "card spread", "aria-label": "Score distribution", hidden: true });
  element = el("aside", {}, this.#you, this.#spread);
  #board;
  /** @type {Ladder} */
  #ladder = {};
  /** @type {Place | null} */
  #place = null;
  /** Load the spread again, soon. */
  refresh = throttled(() => this.#loadSpread(), SPREAD_MS);

  /** @param {string} board */
  constructor(board) {
    this.#board = board;
  }

  /** @param {Ladder} ladder @param {Place | null} place where the followed player stands */
  show(ladder, place) {
    this.#ladder = ladder;
    this.place = place;
    this.#loadSpread();
  }

  /** @param {Place | null} place */
  set place(place) {
    this.#place = place;
    this.#you.hidden = place === null;
    if (place === null) return;
    const link = playerAddress({ page: "player", board: this.#board, player: place.player, window: this.#ladder.window });
    this.#you.replaceChildren(
      el("h2", {}, el("a", { href: link }, name(place.name ?? place.player))),
      el("p", { class: "figure" }, el("b", {}, `#${formatCount(place.rank)}`), el("span", {}, groupDigits(place.score))),
      el("p", {}, percentileWords(place)),
      el("p", { class: "small" }, `top ${formatTopPercent(place.top_percent)} %`),
    );
  }

  /** There is nothing to say. */
  clear() {
    this.#ladder = {};
    this.place = null;
    this.#spread.hidden = true;
  }

  close() {
    this.refresh.cancel();
  }

  async #loadSpread() {
    const ladder = this.#ladder;
    try {
      const spread = await getDistribution(this.#board, ladder);
      if (ladder !== this.#ladder) return;
      this.#spread.hidden = spread.buckets.length < 2;
      if (this.#spread.hidden) return;
      const place = this.#place;
      const words = place === null ? ["Find a player to see where they rank."] : ["▼ ", name(place.name ?? place.player), `: ${percentileWords(place)}`];
      this.#spread.replaceChildren(el("h2", {}, "Score distribution"), distributionPlot(spread, place?.score), el("p", { class: "small" }, ...words));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#spread.hidden = true;
    }
  }
}
