/** One player on one board: standing in every window, neighbours, friends, and how it came. */

import { boardAddress, playerAddress } from "../address.js";
import { ApiError, findStanding, getBoard, getHistory, listFriends, listNeighbours, listSubmissions, movementOf, unlessPrivate } from "../api.js";
import { windowLinks } from "../controls.js";
import { el, name } from "../dom.js";
import { emptyNotice, errorNotice, loadingRows } from "../notices.js";
import { formatCount, formatTopPercent, groupDigits, isLong, percentileWords } from "../numbers.js";
import { historyPlot } from "../plots.js";
import { rankPlot } from "../rank_plots.js";
import { StandingsTable, hueOf, initialOf, movementMark } from "../standings_table.js";
import { endWords, formatMoment, periodName, sinceWords, throttled, windowName } from "../times.js";
import { openingWindow, windowsOf } from "../windows.js";

/** @typedef {import("../address.js").Address} Address */
/** @typedef {import("../api.js").Board} Board */
/** @typedef {import("../api.js").Place} Place */
/** @typedef {import("../api.js").Submission} Submission */
/** @typedef {import("../app.js").Context} Context */

const REFRESH_MS = 1_000;
/** Snapshots are an hour apart or more. */
const RANKS_MS = 60_000;
const SUBMISSIONS_MAX = 1_000;
const SUBMISSIONS_SHOWN = 50;

export class PlayerView {
  #context;
  /** @type {Address} */
  #address;
  /** @type {Board | null} */
  #board = null;
  /** @type {Map<string, Place | null>} */
  #places = new Map();
  /** @type {(() => void)[]} */
  #unwatch = [];
  #isClosed = false;
  /** Whether friends and submissions take a key that the viewer does not have. */
  #isPrivate = false;
  #head = el("header", { class: "hero" });
  #windows = el("ul", { class: "places" });
  #tabs = el("div");
  #around = el("section", { class: "card", "aria-label": "Neighbours" });
  #friends = el("section", { class: "card", "aria-label": "Friends" });
  #ranks = el("section", { class: "card", "aria-label": "Rank history", hidden: true });
  #history = el("section", { class: "card", "aria-label": "Score history" });
  #past = el("section", { class: "card", "aria-label": "Recent submissions" });
  /** Newest first, as far back as was needed. @type {Submission[]} */
  #submissions = [];
  /** Leads further back; null at the beginning. @type {string | null} */
  #next = null;
  #shown = SUBMISSIONS_SHOWN;
  #refresh = throttled(() => this.#loadRest(), REFRESH_MS);
  #refreshRanks = throttled(() => this.#loadRanks(), RANKS_MS);
  /** @type {StandingsTable | null} */
  #aroundTable = null;

  /** @param {Context} context @param {Address} address */
  constructor(context, address) {
    this.#context = context;
    this.#address = address;
    this.element = el("article", { class: "player-page" }, loadingRows());
    this.#open();
  }

  /** @param {Address} address */
  update(address) {
    const isSame = address.page === "player" && address.board === this.#address.board && address.player === this.#address.player;
    if (!isSame || this.#board === null) return false;
    this.#address = address;
    this.#aroundTable = null;
    this.#showTabs();
    this.#loadRest();
    this.#loadRanks();
    return true;
  }

  close() {
    this.#isClosed = true;
    this.#refresh.cancel();
    this.#refreshRanks.cancel();
    for (const stop of this.#unwatch) stop();
  }

  get #id() {
    return /** @type {string} */ (this.#address.board);
  }

  get #player() {
    return /** @type {string} */ (this.#address.player);
  }

  get #window() {
    return this.#address.window ?? openingWindow(/** @type {Board} */ (this.#board));
  }

  /** Since when players have moved. */
  #since = (/** @type {string} */ time) => sinceWords(time, this.#board?.history?.every, Date.now());

  async #open() {
    try {
      const board = await getBoard(this.#id);
      if (this.#isClosed) return;
      this.#board = board;
      const windows = windowsOf(board);
      const places = await Promise.all(windows.map((window) => findStanding(board.id, this.#player, { window, include: movementOf(board) })));
      if (this.#isClosed) return;
      windows.forEach((window, index) => this.#places.set(window, places[index]));
      this.#showHead();
      this.#showPlaces();
      this.#showTabs();
      this.element.replaceChildren(
        this.#head,
        this.#windows,
        this.#tabs,
        el("div", { class: "panels" }, el("div", {}, this.#around, this.#ranks, this.#history), el("div", {}, this.#friends, this.#past)),
      );
      this.#loadRest();
      this.#refreshRanks();
      for (const window of windows) this.#watch(window);
    } catch (error) {
      this.element.replaceChildren(errorNotice(error, () => this.#open()));
    }
  }

  /** @param {string} window */
  #watch(window) {
    const watch = { board: this.#id, window, player: this.#player, include: movementOf(this.#board) };
    this.#unwatch.push(
      this.#context.live.watch(watch, (message) => {
        if (message.type !== "rank") return;
        this.#places.set(window, message.standing);
        this.#showPlaces();
        this.#refresh();
        this.#refreshRanks();
      }),
    );
  }

  #showHead() {
    const board = /** @type {Board} */ (this.#board);
    const label = [...this.#places.values()].find((place) => place?.name)?.name ?? this.#player;
    this.#context.setTitle(`${label} · ${board.title || board.id}`);
    const back = boardAddress({ page: "board", board: board.id, window: this.#window, player: this.#player });
    this.#head.replaceChildren(
      el("span", { class: "monogram large", "aria-hidden": "true", vars: { "--hue": String(hueOf(this.#player)) } }, initialOf(label)),
      el(
        "div",
        { class: "hero-text" },
        el("h1", {}, name(label)),
        el("p", { class: "facts" }, label !== this.#player && name(this.#player), label !== this.#player && " · ", el("a", { href: back }, "on ", name(board.title || board.id))),
      ),
    );
  }

  #showPlaces() {
    const cards = [...this.#places].map(([window, place]) =>
      el(
        "li",
        { class: "card place", "data-window": window },
        el("h2", {}, windowName(window)),
        ...(place === null
          ? [el("p", { class: "figure" }, el("b", {}, "–")), el("p", { class: "small" }, "not on this list")]
          : [
              el("p", { class: "figure" }, el("b", {}, `#${formatCount(place.rank)}`, movementMark(place.movement, place.rank, this.#since)), el("span", { class: isLong(place.score) && "long" }, groupDigits(place.score))),
              el("p", { class: "small" }, percentileWords(place)),
              el("p", { class: "small" }, `top ${formatTopPercent(place.top_percent)} % · ${[periodName(place.period), ...endWords(place.state)].join(" · ")}`),
            ]),
      ),
    );
    this.#windows.replaceChildren(...cards);
  }

  #showTabs() {
    const link = (/** @type {string} */ window) => playerAddress({ ...this.#address, window });
    const hadFocus = this.#tabs.contains(document.activeElement);
    this.#tabs.replaceChildren(windowLinks(windowsOf(/** @type {Board} */ (this.#board)), this.#window, link));
    if (hadFocus) /** @type {HTMLElement | null} */ (this.#tabs.querySelector("[aria-current]"))?.focus();
  }

  async #loadRest() {
    const window = this.#window;
    const ladder = { window, include: movementOf(this.#board) };
    const isRanked = Boolean(this.#places.get(window));
    try {
      const [around, friends, past] = await Promise.all([
        isRanked ? listNeighbours(this.#id, this.#player, ladder) : null,
        this.#isPrivate ? null : unlessPrivate(listFriends(this.#id, this.#player, ladder)),
        this.#isPrivate ? null : unlessPrivate(listSubmissions(this.#id, this.#player)),
      ]);
      if (this.#isClosed || window !== this.#window) return;
      this.#showNeighbours(around);
      this.#isPrivate = friends === null || past === null;
      for (const section of [this.#friends, this.#past, this.#history]) section.hidden = this.#isPrivate;
      if (friends === null || past === null) return;
      this.#showFriends(friends);
      this.#hold(past);
      this.#showSubmissions();
      await this.#showHistory(window);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (this.#around.childElementCount === 0) this.#around.replaceChildren(errorNotice(error, () => this.#loadRest()));
    }
  }

  /** Where the player stood when snapshots were taken, if the board takes them. */
  async #loadRanks() {
    const window = this.#window;
    if (!this.#board?.history) return;
    try {
      const { points } = await getHistory(this.#id, this.#player, { window });
      if (this.#isClosed || window !== this.#window) return;
      this.#ranks.hidden = points.length === 0;
      if (points.length === 0) return;
      this.#ranks.replaceChildren(el("h2", {}, "Rank history"), el("p", { class: "small" }, windowName(window)), rankPlot(points));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#ranks.hidden = true;
    }
  }

  /** @param {import("../api.js").Page | null} page */
  #showNeighbours(page) {
    if (page === null) {
      this.#aroundTable = null;
      return this.#around.replaceChildren(el("h2", {}, "Neighbours"), emptyNotice("Not on this list"));
    }
    const isSame = this.#aroundTable !== null;
    if (this.#aroundTable === null) {
      this.#aroundTable = this.#table("Neighbours", false);
      this.#around.replaceChildren(el("h2", {}, "Neighbours"), this.#aroundTable.element);
    }
    this.#aroundTable.show(page.standings, { marked: this.#player, isSame });
  }

  /** @param {import("../api.js").Page} page */
  #showFriends(page) {
    const others = page.standings.filter((standing) => standing.player !== this.#player);
    if (others.length === 0) {
      return this.#friends.replaceChildren(el("h2", {}, "Friends"), emptyNotice("No friends on this list"));
    }
    const table = this.#table("Friends", true);
    table.show(page.standings, { marked: this.#player });
    this.#friends.replaceChildren(el("h2", {}, "Friends"), table.element);
  }

  /** @param {string} caption @param {boolean} isAmongFriends */
  #table(caption, isAmongFriends) {
    const link = (/** @type {string} */ player) => playerAddress({ page: "player", board: this.#id, player, window: this.#window });
    return new StandingsTable({ caption, link, isAmongFriends, since: this.#since });
  }

  /** Keep the newest submissions in front of those that are known. @param {{submissions: Submission[], next: string | null}} page */
  #hold({ submissions, next }) {
    const known = new Set(this.#submissions.map(({ submission }) => submission));
    const fresh = submissions.filter(({ submission }) => !known.has(submission));
    const isConnected = fresh.length < submissions.length;
    const held = isConnected ? [...fresh, ...this.#submissions] : submissions;
    this.#submissions = held.slice(0, SUBMISSIONS_MAX);
    if (!isConnected) this.#next = next;
    else if (held.length > SUBMISSIONS_MAX) this.#next ??= next; // the oldest are held no longer
  }

  /** Load further back, if there is more and not too much of it already. @returns {Promise<boolean>} whether it did */
  async #loadMore() {
    const from = this.#next;
    if (from === null || this.#submissions.length >= SUBMISSIONS_MAX) return false;
    const { submissions, next } = await listSubmissions(this.#id, this.#player, from);
    if (this.#isClosed) return false;
    if (this.#next !== from) return true; // somebody else loaded them meanwhile
    this.#submissions = [...this.#submissions, ...submissions].slice(0, SUBMISSIONS_MAX);
    this.#next = next;
    return true;
  }

  #showSubmissions() {
    const more = async () => {
      this.#shown += SUBMISSIONS_SHOWN;
      if (this.#submissions.length < this.#shown) await this.#loadMore();
      this.#showSubmissions();
    };
    const shown = this.#submissions.slice(0, this.#shown);
    const hasMore = shown.length < this.#submissions.length || (this.#next !== null && this.#submissions.length < SUBMISSIONS_MAX);
    this.#past.replaceChildren(
      el("h2", {}, "Recent submissions"),
      shown.length === 0 ? emptyNotice("No submissions yet") : submissionTable(shown),
      ...(hasMore ? [el("button", { class: "button", type: "button", on: { click: more } }, "Show more")] : []),
    );
  }

  /** The scores of the period that is shown, from its beginning until now. @param {string} window */
  async #showHistory(window) {
    const board = /** @type {Board} */ (this.#board);
    const { opens_at, closes_at } = board.periods[window];
    const opens = opens_at === null ? -Infinity : Date.parse(opens_at);
    const closes = closes_at === null ? Infinity : Date.parse(closes_at);
    const isWhole = () => Date.parse(this.#submissions.at(-1)?.recorded_at ?? "") < opens;
    while (!isWhole() && (await this.#loadMore()));
    if (this.#isClosed || window !== this.#window) return;
    const within = this.#submissions.filter(({ at }) => Date.parse(at) >= opens && Date.parse(at) < closes);
    this.#history.hidden = within.length < 2;
    if (within.length < 2) return;
    const first = Math.min(...within.map(({ at }) => Date.parse(at)));
    const time = { from: opens === -Infinity ? first : opens, to: Math.min(Date.now(), closes) };
    const isCut = !isWhole() && this.#next !== null;
    const words = `${board.policy === "best" ? "the best of the" : "the"} newest ${formatCount(within.length)} submissions`;
    const end = isCut ? this.#places.get(window)?.score : undefined;
    this.#history.replaceChildren(
      el("h2", {}, "Score history"),
      el("p", { class: "small" }, isCut ? `${windowName(window)} · ${words}` : windowName(window)),
      historyPlot(within, board, isCut ? { from: first, to: time.to, end } : time),
    );
  }
}

/** @param {Submission[]} submissions */
function submissionTable(submissions) {
  const rows = submissions.map(({ score, at, status }) =>
    el("tr", {}, el("td", { class: "when" }, formatMoment(at)), el("td", { class: "score" }, groupDigits(score)), el("td", { class: "status" }, status === "accepted" ? "counted" : "no change")),
  );
  const head = el("tr", {}, el("th", { scope: "col", class: "when" }, "When"), el("th", { scope: "col", class: "score" }, "Score"), el("th", { scope: "col", class: "status" }, "Outcome"));
  return el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Recent submissions" }, el("table", { class: "standings submissions", "data-long": submissions.some(({ score }) => isLong(score)) }, el("caption", {}, "Recent submissions, newest first"), el("thead", {}, head), el("tbody", {}, ...rows)));
}
