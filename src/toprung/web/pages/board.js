/** One board: its standings as they change, and ways to look elsewhere on it. */

import { boardAddress, playerAddress } from "../address.js";
import { ApiError, findStanding, getBoard, getDistribution, listPeriods, listScopes, listStandings } from "../api.js";
import { Announcement, Choice, askForm, periodOptions, rankingOptions, scopeOptions, windowLinks } from "../controls.js";
import { Countdown } from "../countdown.js";
import { el, name, setText } from "../dom.js";
import { emptyNotice, errorNotice, loadingRows } from "../notices.js";
import { formatCount, groupDigits, percentileWords, plural } from "../numbers.js";
import { distributionPlot } from "../plots.js";
import { PAGE_ROWS, Segment } from "../segment.js";
import { StandingsTable } from "../standings_table.js";
import { periodName, throttled, windowName } from "../times.js";
import { defaultWindow, windowsOf } from "../windows.js";

/** @typedef {import("../address.js").Address} Address */
/** @typedef {import("../api.js").Board} Board */
/** @typedef {import("../api.js").Place} Place */
/** @typedef {import("../app.js").Context} Context */

const ABOVE = 8;
const REFRESH_MS = 1_000;
const SPREAD_MS = 5_000;
const WIDE = matchMedia("(min-width: 48rem)");

export class BoardView {
  #context;
  /** @type {Address} */
  #address;
  /** @type {Board | null} */
  #board = null;
  #segment = new Segment();
  /** @type {StandingsTable | null} */
  #table = null;
  /** @type {Place | null} */
  #place = null;
  #unwatch = () => {};
  #visit = 0;
  #isLoading = false;

  #title = el("h1", {}, "\u00a0");
  #facts = el("p", { class: "facts" });
  #clock = new Countdown();
  #screen = el("button", { class: "button screen-button", type: "button", on: { click: () => this.#toggleScreen() } });
  #tabs = el("div");
  #rows = el("div", { class: "rows" });
  #you = el("section", { class: "card you", "aria-label": "The player you follow", hidden: true });
  #spread = el("section", { class: "card spread", "aria-label": "How scores spread", hidden: true });
  #news = new Announcement();
  #period = new Choice("Period", (period) => this.#choose({ period }));
  #scope = new Choice("Scope", (scope) => this.#choose({ scope }));
  #ranking = new Choice("Ranks", (ranking) => this.#choose({ ranking }));
  #above = el("div", { class: "sentinel" });
  #below = el("div", { class: "sentinel" });
  #sight = new IntersectionObserver((seen) => this.#extend(seen), { rootMargin: "600px" });
  #refresh = throttled(() => this.#reload(), REFRESH_MS);
  #spreadAgain = throttled(() => this.#loadSpread(), SPREAD_MS);

  /** @param {Context} context @param {Address} address */
  constructor(context, address) {
    this.#context = context;
    this.#address = address;
    const find = askForm({
      label: "Find a player",
      action: "Find",
      attributes: { placeholder: "player id", maxlength: 128, value: address.player },
      go: (player) => this.#choose({ player, from: undefined }),
    });
    const jump = askForm({
      label: "Go to a rank",
      action: "Go",
      attributes: { type: "number", min: 1, inputmode: "numeric", placeholder: "rank" },
      go: (from) => this.#choose({ from: Number(from), player: undefined }),
    });
    this.element = el(
      "article",
      { class: "board-page" },
      el("header", { class: "hero" }, el("div", { class: "hero-text" }, this.#title, this.#facts), this.#clock.element, this.#screen),
      this.#tabs,
      el("details", { class: "fold", open: WIDE.matches }, el("summary", {}, "Look around"), el("div", { class: "tools" }, find, jump, this.#period.element, this.#scope.element, this.#ranking.element)),
      this.#news.element,
      el("div", { class: "columns" }, el("div", { class: "ladder" }, this.#above, this.#rows, this.#below), el("aside", {}, this.#you, this.#spread)),
    );
    this.#sight.observe(this.#above);
    this.#sight.observe(this.#below);
    this.#open();
  }

  /** @param {Address} address */
  update(address) {
    if (address.page !== "board" || address.board !== this.#address.board || this.#board === null) return false;
    this.#address = address;
    this.#showLadder();
    return true;
  }

  close() {
    this.#visit += 1;
    this.#unwatch();
    this.#sight.disconnect();
    this.#clock.stop();
    this.#refresh.cancel();
    this.#spreadAgain.cancel();
  }

  /** The ladder that is shown, with the names it has in addresses. */
  get #ladder() {
    const { window, period, scope, ranking } = this.#address;
    return { window: window ?? (this.#board === null ? undefined : defaultWindow(this.#board)), period, scope, ranking };
  }

  get #id() {
    return /** @type {string} */ (this.#address.board);
  }

  get #isPast() {
    const { window, period } = this.#ladder;
    return period !== undefined && period !== this.#board?.periods[/** @type {string} */ (window)]?.period;
  }

  /** @param {Partial<Address>} change */
  #choose(change) {
    const isElsewhere = "period" in change || "scope" in change || "window" in change;
    this.#context.go(this.#link({ ...(isElsewhere && { from: undefined }), ...change }));
  }

  /** @param {Partial<Address>} change */
  #link(change) {
    return boardAddress({ ...this.#address, ...change });
  }

  async #open() {
    this.#rows.replaceChildren(loadingRows());
    try {
      this.#board = await getBoard(this.#id);
      const title = this.#board.title || this.#board.id;
      this.#context.setTitle(title);
      this.#title.replaceChildren(name(title));
      await this.#showLadder();
    } catch (error) {
      this.#rows.replaceChildren(errorNotice(error, () => this.#open()));
    }
  }

  /** Show the ladder that the address names, from where it says. */
  async #showLadder() {
    const board = /** @type {Board} */ (this.#board);
    const visit = (this.#visit += 1);
    this.#unwatch();
    this.#place = null;
    this.#isLoading = true;
    this.#showChoices();
    this.#loadChoices(visit);
    this.#news.say("");
    try {
      const player = this.#address.player;
      const place = player === undefined ? null : await findStanding(board.id, player, { ...this.#ladder, ranking: "ordinal" });
      const target = place?.rank ?? this.#address.from ?? 1;
      const first = Math.max(1, target - (place === null ? 0 : ABOVE));
      const page = await listStandings(board.id, this.#ladder, { limit: PAGE_ROWS, ...(first > 1 && { from: first }) });
      if (visit !== this.#visit) return;
      this.#segment.replace(page, first);
      this.#table = new StandingsTable({
        caption: this.#caption(page.period),
        link: (id) => playerAddress({ page: "player", board: board.id, player: id, window: this.#ladder.window }),
        subscore: board.subscore && "Subscore",
      });
      this.#rows.replaceChildren(this.#table.element);
      this.#place = place;
      this.#draw(false);
      this.#showPeriod(page.period);
      this.#reveal(place, target);
      this.#loadPlace();
      this.#loadSpread();
      this.#watch();
    } catch (error) {
      if (visit === this.#visit) this.#rows.replaceChildren(errorNotice(error, () => this.#showLadder()));
    } finally {
      if (visit === this.#visit) this.#isLoading = false;
    }
    this.#look();
  }

  #showChoices() {
    const board = /** @type {Board} */ (this.#board);
    const link = (/** @type {string} */ window) => this.#link({ window, period: undefined, from: undefined });
    const links = windowLinks(windowsOf(board), /** @type {string} */ (this.#ladder.window), link);
    const hadFocus = this.#tabs.contains(document.activeElement);
    this.#tabs.replaceChildren(links);
    if (hadFocus) /** @type {HTMLElement | null} */ (links.querySelector("[aria-current]"))?.focus();
    setText(this.#screen, this.#address.view === "screen" ? "Leave big screen" : "Big screen");
    this.#ranking.show(rankingOptions(), this.#ladder.ranking ?? board.ranking);
  }

  /** @param {number} visit */
  async #loadChoices(visit) {
    const window = /** @type {string} */ (this.#ladder.window);
    try {
      const [{ periods }, { scopes }] = await Promise.all([listPeriods(this.#id, window), listScopes(this.#id, this.#ladder)]);
      if (visit !== this.#visit) return;
      this.#period.show(periodOptions(periods), this.#isPast ? /** @type {string} */ (this.#ladder.period) : "");
      this.#scope.show(scopeOptions(scopes), this.#ladder.scope ?? "global");
    } catch (error) {
      if (!(error instanceof ApiError)) throw error; // the standings say what is wrong
    }
  }

  /** @param {string} period */
  #caption(period) {
    return `Standings, ${windowName(/** @type {string} */ (this.#ladder.window))}, ${periodName(period)}, ${this.#ladder.scope ?? "global"}`;
  }

  /** @param {string} period */
  #showPeriod(period) {
    const current = this.#board?.periods[/** @type {string} */ (this.#ladder.window)];
    this.#clock.show(this.#isPast ? null : current?.closes_at);
    this.#facts.dataset.period = period;
    this.#showFacts();
  }

  #showFacts() {
    const period = this.#facts.dataset.period ?? "";
    const words = [plural(this.#segment.total, "player"), windowName(/** @type {string} */ (this.#ladder.window))];
    if (period !== "all") words.push(periodName(period));
    if (this.#isPast) words.push("closed");
    setText(this.#facts, words.join(" · "));
  }

  /** @param {boolean} isSame whether the ladder is the one that was shown */
  #draw(isSame) {
    const { rows, total, first } = this.#segment;
    const best = first === 1 ? rows[0]?.score : undefined;
    this.#table?.show(rows, { marked: this.#address.player, best, isSame });
    this.#showFacts();
    const empty = this.#rows.querySelector(".notice");
    if (total > 0) empty?.remove();
    else if (empty === null) this.#rows.append(emptyNotice("No scores here yet", el("p", {}, this.#isPast ? "Nobody took part." : "The first one appears as soon as it is in.")));
    if (this.#table !== null) this.#table.element.hidden = total === 0;
  }

  /** @param {Place | null} place @param {number} target */
  #reveal(place, target) {
    if (this.#address.player !== undefined && place === null) {
      this.#news.say(`${this.#address.player} is not on this list.`);
      return;
    }
    const row = place === null ? null : this.#table?.row(place.player);
    if (row) {
      row.scrollIntoView({ block: "center" });
      row.querySelector("a")?.focus({ preventScroll: true });
    } else if (target > 1) {
      if (target > this.#segment.total) this.#news.say(`The last rank is ${formatCount(this.#segment.total)}.`);
      const link = this.#rows.querySelector("tbody a");
      if (link instanceof HTMLElement) link.focus({ preventScroll: true });
      this.#rows.scrollIntoView({ block: "start" });
    }
  }

  #watch() {
    if (this.#isPast) return;
    const { window, scope } = this.#ladder;
    const top = this.#segment.first === 1 ? PAGE_ROWS : 1;
    this.#unwatch = this.#context.live.watch({ board: this.#id, window, scope, top, player: this.#address.player }, (message) => this.#hear(message));
  }

  /** @param {import("../live.js").Message} message */
  #hear(message) {
    if (message.type === "period") return void this.#rollOver();
    if (message.type === "rank") return this.#follow(message.standing);
    if (message.type === "error") return this.#news.say(message.problem.detail ?? message.problem.title);
    if (message.type !== "top") return;
    const isDefault = (this.#ladder.ranking ?? this.#board?.ranking) === this.#board?.ranking;
    if (this.#segment.isHead && isDefault && message.standings.length >= Math.min(PAGE_ROWS, message.total)) {
      this.#segment.replace(/** @type {any} */ (message));
      this.#draw(true);
    } else {
      this.#refresh();
    }
    this.#spreadAgain();
  }

  async #rollOver() {
    this.#board = await getBoard(this.#id);
    if (!this.#isPast) this.#showLadder();
  }

  /** See the same part of the ladder as it is now. */
  async #reload() {
    if (this.#isLoading) return this.#refresh();
    const visit = this.#visit;
    const { whole, first } = this.#segment;
    try {
      const page = await listStandings(this.#id, this.#ladder, whole);
      if (visit !== this.#visit || this.#isLoading || this.#segment.first !== first) return;
      this.#segment.replace(page, first);
      this.#draw(true);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error; // the next change brings the next attempt
    }
  }

  /** Load what comes next when an end of the list is about to be seen. @param {IntersectionObserverEntry[]} seen */
  async #extend(seen) {
    const targets = seen.filter((entry) => entry.isIntersecting).map((entry) => entry.target);
    if (targets.length === 0 || this.#isLoading || this.#table === null) return;
    const isUp = targets.includes(this.#above) && this.#segment.before !== null;
    const part = isUp ? this.#segment.before : targets.includes(this.#below) ? this.#segment.after : null;
    if (part === null) return;
    const visit = this.#visit;
    this.#isLoading = true;
    try {
      const page = await listStandings(this.#id, this.#ladder, part);
      if (visit !== this.#visit) return;
      if (isUp) this.#segment.prepend(page);
      else this.#segment.append(page);
      this.#keepInSight(() => this.#draw(true));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    } finally {
      if (visit === this.#visit) this.#isLoading = false;
    }
    this.#look();
  }

  /** Ask again what is in sight: an end may have stayed there. */
  #look() {
    for (const sentinel of [this.#above, this.#below]) {
      this.#sight.unobserve(sentinel);
      this.#sight.observe(sentinel);
    }
  }

  /** @param {() => void} change */
  #keepInSight(change) {
    const anchor = this.#table?.anchor();
    change();
    if (anchor) scrollBy(0, anchor.element.getBoundingClientRect().top - anchor.top);
  }

  /** @param {Place | null} standing */
  #follow(standing) {
    const before = this.#place;
    this.#place = standing;
    this.#showYou();
    if (standing !== null && before !== null && before.rank !== standing.rank) {
      this.#news.say(`${standing.name ?? standing.player} is now ${formatCount(standing.rank)} of ${formatCount(standing.total)}`);
    }
  }

  /** Where the followed player stands, in the ranks that the viewer chose. */
  async #loadPlace() {
    const { player } = this.#address;
    this.#showYou();
    if (player === undefined || this.#place === null) return;
    const visit = this.#visit;
    const place = await findStanding(this.#id, player, this.#ladder);
    if (visit !== this.#visit) return;
    this.#place = place;
    this.#showYou();
  }

  #showYou() {
    const place = this.#place;
    this.#you.hidden = place === null;
    if (place === null) return;
    const link = playerAddress({ page: "player", board: this.#id, player: place.player, window: this.#ladder.window });
    this.#you.replaceChildren(
      el("h2", {}, el("a", { href: link }, name(place.name ?? place.player))),
      el("p", { class: "figure" }, el("b", {}, `#${formatCount(place.rank)}`), el("span", {}, groupDigits(place.score))),
      el("p", {}, percentileWords(place)),
    );
  }

  async #loadSpread() {
    const visit = this.#visit;
    try {
      const spread = await getDistribution(this.#id, this.#ladder);
      if (visit !== this.#visit) return;
      this.#spread.hidden = spread.buckets.length < 2;
      if (this.#spread.hidden) return;
      const marked = this.#place === null ? null : { label: this.#place.player, score: this.#place.score };
      this.#spread.replaceChildren(
        el("h2", {}, "How scores spread"),
        distributionPlot(spread, marked),
        this.#place === null ? el("p", { class: "small" }, "Find a player to see where they are.") : el("p", { class: "small" }, `▲ ${percentileWords(this.#place)}`),
      );
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#spread.hidden = true;
    }
  }

  #toggleScreen() {
    const isScreen = this.#address.view === "screen";
    this.#context.go(this.#link({ view: isScreen ? undefined : "screen", from: undefined }));
    if (isScreen && document.fullscreenElement) document.exitFullscreen();
    else if (!isScreen) document.documentElement.requestFullscreen?.().catch(() => {}); // the layout is enough
  }
}
