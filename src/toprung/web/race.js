/** How the first ten of a ladder came to be there: asked for when somebody opens it, and then kept for a while. */

import { getHistory } from "./api.js";
import { el } from "./dom.js";
import { errorNotice, loadingRows } from "./notices.js";
import { racePlot } from "./rank_plots.js";

/** @typedef {import("./address.js").Ladder} Ladder */
/** @typedef {import("./api.js").HistoryPoint} HistoryPoint */
/** @typedef {import("./api.js").Standing} Standing */
/**
 * @typedef {Object} Track what is raced on
 * @property {string} board
 * @property {Ladder} ladder
 * @property {string} period the period that is shown
 * @property {() => Promise<Standing[]>} leaders the first places, as they are now
 * @property {(player: string) => string} link
 */

export const RUNNERS = 10;
/** Snapshots are an hour apart or more. */
const KEPT_MS = 120_000;
const NARROW = 320;

export class Race {
  #plot = el("div", { class: "race-body" });
  #fold = /** @type {HTMLDetailsElement} */ (
    el("details", { class: "card race", on: { toggle: () => this.#load() } }, el("summary", {}, "History"), this.#plot)
  );
  element = el("div");
  /** @type {Track | null} */
  #track = null;
  /** @type {Map<string, {until: number, points: Promise<HistoryPoint[]>}>} */
  #kept = new Map();

  /** Another ladder is shown. @param {Track | null} track null: it has no history */
  show(track) {
    this.#track = track;
    if (track === null) return this.#fold.remove();
    if (!this.#fold.isConnected) this.element.append(this.#fold);
    this.#load();
  }

  async #load() {
    const track = this.#track;
    if (track === null || !this.#fold.open) return;
    if (this.#plot.childElementCount === 0) this.#plot.replaceChildren(loadingRows(3));
    try {
      const leaders = await track.leaders();
      const runners = await Promise.all(
        leaders.slice(0, RUNNERS).map(async ({ player, name }) => {
          const points = (await this.#history(track, player)).filter(({ period }) => period === track.period);
          return { player, label: name ?? player, link: track.link(player), points };
        }),
      );
      if (track !== this.#track) return;
      const hasPoints = runners.some(({ points }) => points.length > 0);
      const width = Math.max(NARROW, this.#plot.clientWidth);
      this.#plot.replaceChildren(hasPoints ? racePlot(runners, width) : el("p", { class: "small" }, "There is no snapshot of this period with these players yet."));
    } catch (error) {
      if (track === this.#track) this.#plot.replaceChildren(errorNotice(error, () => this.#load()));
    }
  }

  /** @param {Track} track @param {string} player */
  #history({ board, ladder }, player) {
    const { window, scope, ranking } = ladder;
    const key = JSON.stringify([window, scope, ranking, player]);
    const now = performance.now();
    for (const [each, { until }] of this.#kept) if (until < now) this.#kept.delete(each);
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept.points;
    const points = getHistory(board, player, ladder).then((answer) => answer.points);
    this.#kept.set(key, { until: now + KEPT_MS, points });
    points.catch(() => this.#kept.delete(key)); // it is asked for again
    return points;
  }
}
