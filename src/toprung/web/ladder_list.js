/**
 * A ladder to scroll through, from wherever it was opened. Pages are loaded as either end comes into
 * sight; what is held is bounded; and when the ladder changes, what is shown follows.
 */

import { ApiError } from "./api.js";
import { el } from "./dom.js";
import { emptyNotice, loadingRows } from "./notices.js";
import { PAGE_ROWS, Segment } from "./segment.js";
import { throttled } from "./times.js";

/** @typedef {import("./api.js").Page} Page */
/** @typedef {import("./segment.js").Part} Part */
/**
 * @typedef {Object} Source where rows come from and how they are shown
 * @property {(part: Part) => Promise<Page>} load
 * @property {import("./standings_table.js").StandingsTable} table
 * @property {string} [marked] the player to mark
 * @property {string} whenEmpty
 * @property {number} [rows] how many rows are shown, and no more; by default as many as are scrolled to
 */

const REFRESH_MS = 1_000;
const SIGHT = { rootMargin: "600px" };

export class LadderList {
  #segment = new Segment();
  /** @type {Source | null} */
  #source = null;
  #isLoading = false;
  #above = el("div", { class: "sentinel" });
  #rows = el("div", { class: "rows" });
  #below = el("div", { class: "sentinel" });
  #sight = new IntersectionObserver((seen) => this.#extend(seen.filter((each) => each.isIntersecting)), SIGHT);
  #refresh = throttled(() => this.#reload(), REFRESH_MS);
  #tell;

  /** @param {(total: number) => void} tell hears how many players the ladder has */
  constructor(tell) {
    this.#tell = tell;
    this.element = el("div", { class: "ladder" }, this.#above, this.#rows, this.#below);
    this.notice(loadingRows());
  }

  get total() {
    return this.#segment.total;
  }

  /** How many rows are shown. */
  get rows() {
    return this.#segment.rows.length;
  }

  /** How many rows a live top must have to be all that is shown. */
  get topRows() {
    return this.#segment.first === 1 ? this.#segment.pageRows : 1;
  }

  /**
   * Show a ladder from a place on.
   * @param {Source} source
   * @param {number} first
   * @returns {Promise<Page | null>} null if another one was asked for meanwhile
   */
  async open(source, first) {
    this.#source = source;
    this.#isLoading = true;
    try {
      const limit = source.rows ?? PAGE_ROWS;
      const page = await source.load({ limit, ...(first > 1 && { from: first }) });
      if (source !== this.#source) return null;
      this.#segment.pageRows = limit;
      this.#segment.replace(page, first);
      this.#rows.replaceChildren(source.table.element);
      this.#draw({ isSame: false });
      return page;
    } finally {
      if (source === this.#source) this.#isLoading = false;
      this.#look();
    }
  }

  /** Something else in the place of rows. @param {HTMLElement} element */
  notice(element) {
    this.#source = null;
    this.#rows.replaceChildren(element);
  }

  close() {
    this.#source = null;
    this.#sight.disconnect();
    this.#refresh.cancel();
  }

  /** The first places, if they are shown. @param {number} count */
  head(count) {
    const { first, rows, total } = this.#segment;
    return this.#source !== null && first === 1 && rows.length >= Math.min(count, total) ? rows.slice(0, count) : null;
  }

  /**
   * The ladder changed, and this is its top.
   * @param {{standings: import("./api.js").Standing[], total: number}} top
   * @param {boolean} isAsShown whether its ranks count as those that are shown
   */
  follow(top, isAsShown) {
    const isWhole = top.standings.length >= Math.min(this.#segment.pageRows, top.total);
    if (!isAsShown || !isWhole || !this.#segment.isHead || this.#isLoading) return this.#refresh();
    this.#segment.replace(top);
    this.#draw({ isSame: true });
  }

  /**
   * Bring a player, or else the first row, into sight and give it the focus.
   * @param {string | undefined} player
   */
  reveal(player) {
    const row = player === undefined ? null : this.#source?.table.row(player);
    const link = (row ?? this.#rows).querySelector("tbody a, a");
    if (link instanceof HTMLElement) link.focus({ preventScroll: true });
    if (!row) this.#rows.scrollIntoView({ block: "start" });
    else if (!isInSight(row)) row.scrollIntoView({ block: "center" });
  }

  /** @param {{isSame: boolean, isStill?: boolean}} how whether it is the ladder that was shown, and only longer */
  #draw(how) {
    if (this.#source === null) return;
    const { table, marked, whenEmpty } = this.#source;
    const { rows, total, first } = this.#segment;
    table.show(rows, { marked, best: first === 1 ? rows[0]?.score : undefined, ...how });
    table.element.hidden = total === 0;
    const notice = this.#rows.querySelector(".notice");
    if (total > 0) notice?.remove();
    else if (notice === null) this.#rows.append(emptyNotice("No scores here yet", el("p", {}, whenEmpty)));
    this.#tell(total);
  }

  /** See the same part of the ladder as it is now. */
  async #reload() {
    if (this.#isLoading || document.hidden) return this.#refresh();
    const { whole, first } = this.#segment;
    await this.#ask(whole, (page) => {
      if (first !== this.#segment.first) return;
      this.#segment.replace(page, first);
      this.#draw({ isSame: true });
    });
  }

  /** Load what comes next when an end of the list is about to be seen. @param {IntersectionObserverEntry[]} seen */
  async #extend(seen) {
    if (this.#isLoading || this.#source === null || this.#source.rows !== undefined) return;
    const { before, after } = this.#segment;
    const isSeen = (/** @type {Element} */ end) => seen.some((entry) => entry.target === end);
    const isUp = before !== null && isSeen(this.#above);
    const part = isUp ? before : isSeen(this.#below) ? after : null;
    if (part === null) return;
    const isDone = await this.#ask(part, (page) => {
      if (isUp) this.#segment.prepend(page);
      else this.#segment.append(page);
      this.#keepInSight(() => this.#draw({ isSame: true, isStill: true }));
    });
    if (isDone) this.#look();
  }

  /**
   * Load a part and use it, unless another ladder was opened meanwhile.
   * @param {Part} part
   * @param {(page: Page) => void} use
   * @returns {Promise<boolean>} whether it was used
   */
  async #ask(part, use) {
    const source = this.#source;
    if (source === null) return false;
    this.#isLoading = true;
    try {
      const page = await source.load(part);
      if (source !== this.#source) return false;
      use(page);
      return true;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error; // the next change or scroll asks again
      return false;
    } finally {
      if (source === this.#source) this.#isLoading = false;
    }
  }

  /** Have both ends judged again: one may have stayed in sight. */
  #look() {
    for (const end of [this.#above, this.#below]) {
      this.#sight.unobserve(end);
      this.#sight.observe(end);
    }
  }

  /** Let rows come and go at the ends while those in sight stay where they are. @param {() => void} change */
  #keepInSight(change) {
    const anchor = this.#source?.table.anchor();
    change();
    if (anchor) scrollBy(0, anchor.element.getBoundingClientRect().top - anchor.top);
  }
}

/** @param {Element} element */
function isInSight(element) {
  const { top, bottom } = element.getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight;
}
