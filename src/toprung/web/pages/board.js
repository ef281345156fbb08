/** One board: its standings as they change, and ways to look elsewhere on it. */

import { boardAddress, playerAddress } from "../address.js";
import { ApiError, findPlayers, findStanding, getBoard, listPeriods, listScopes, listStandings, movementOf } from "../api.js";
import { Announcement, Choice, askForm, periodOptions, rankingOptions, scopeOptions, windowLinks } from "../controls.js";
import { Countdown } from "../countdown.js";
import { el, name, setText } from "../dom.js";
import { Finder } from "../finder.js";
import { Followed } from "../followed.js";
import { me } from "../keyring.js";
import { LadderList } from "../ladder_list.js";
import { errorNotice, loadingRows } from "../notices.js";
import { formatCount, plural } from "../numbers.js";
import { RUNNERS, Race } from "../race.js";
import { Rotation, nextPage, rowsThatFit } from "../rotation.js";
import { StandingsTable } from "../standings_table.js";
import { afterRollOver, periodName, periodWords, sinceWords, throttled, windowName } from "../times.js";
import { openingWindow, windowsOf } from "../windows.js";

/** @typedef {import("../address.js").Address} Address */
/** @typedef {import("../api.js").Board} Board */
/** @typedef {import("../api.js").Place} Place */
/** @typedef {import("../app.js").Context} Context */

/** How many rows are shown above a player who was looked for. */
const ABOVE = 8;
const RESIZE_MS = 300;
const WIDE = matchMedia("(min-width: 48rem)");

export class BoardView {
  #context;
  /** @type {Address} */
  #address;
  /** @type {Board | null} */
  #board = null;
  /** The period that is shown. */
  #shown = "";
  #shownWindow = "";
  /** @type {import("../api.js").State} */
  #state = "open";
  /** @type {Place | null} */
  #place = null;
  /** Counts what was asked for, so that late answers are recognised. */
  #visit = 0;
  #isClosed = false;
  #unwatch = () => {};

  #title = el("h1", {}, "\u00a0");
  #facts = el("p", { class: "facts" });
  #clock = new Countdown();
  #screen = el("button", { class: "button screen-button", type: "button", on: { click: () => this.#toggleScreen() } });
  #tabs = el("div");
  #period = new Choice("Period", (period) => this.#choose({ period, from: undefined }));
  #scope = new Choice("Scope", (scope) => this.#choose({ scope, from: undefined }));
  #ranking = new Choice("Ranks", (ranking) => this.#choose({ ranking }));
  #news = new Announcement();
  #list = new LadderList(() => this.#showFacts());
  #race = new Race();
  #rotation = new Rotation(() => this.#turnPage());
  #resize = throttled(() => this.#isScreen && this.#showLadder(), RESIZE_MS);
  /** The place that the big screen begins with at the moment. */
  #first = 1;
  #finder;
  #followed;
  #parts;
  element = el("article", { class: "board-page" }, loadingRows());

  /** @param {Context} context @param {Address} address */
  constructor(context, address) {
    this.#context = context;
    this.#address = address;
    this.#followed = new Followed(this.#id);
    this.#finder = new Finder(
      (text) => findPlayers(this.#id, text, this.#ladder),
      (player) => this.#choose({ player, from: undefined }),
      address.player,
    );
    this.#parts = [
      el("header", { class: "hero" }, el("div", { class: "hero-text" }, this.#title, this.#facts), this.#clock.element, this.#screen),
      this.#tabs,
      el("details", { class: "fold", open: WIDE.matches }, el("summary", {}, "Find and filter"), this.#tools()),
      this.#race.element,
      this.#news.element,
      el("div", { class: "columns" }, this.#list.element, this.#followed.element),
    ];
    document.addEventListener("fullscreenchange", this.#leaveScreen);
    addEventListener("resize", this.#resize);
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
    this.#isClosed = true;
    this.#visit += 1;
    this.#unwatch();
    document.removeEventListener("fullscreenchange", this.#leaveScreen);
    removeEventListener("resize", this.#resize);
    this.#resize.cancel();
    this.#rotation.stop();
    this.#finder.close();
    this.#clock.stop();
    this.#list.close();
    this.#followed.close();
  }

  get #id() {
    return /** @type {string} */ (this.#address.board);
  }

  /** Whose place is shown beside the list: who was looked for, or the viewer. */
  get #subject() {
    return this.#address.player ?? me() ?? undefined;
  }

  get #window() {
    return this.#address.window ?? openingWindow(/** @type {Board} */ (this.#board));
  }

  /** The ladder that is shown, as the service names it. */
  get #ladder() {
    const { period, scope, ranking } = this.#address;
    return { window: this.#window, period, scope, ranking };
  }

  get #isScreen() {
    return this.#address.view === "screen";
  }

  get #isPast() {
    const { period } = this.#address;
    return period !== undefined && period !== this.#board?.periods[this.#window]?.period;
  }

  #tools() {
    const jump = askForm({
      label: "Go to a rank",
      action: "Go",
      attributes: { type: "number", min: 1, inputmode: "numeric", placeholder: "rank" },
      go: (from) => this.#choose({ from: Number(from), player: undefined }),
    });
    return el("div", { class: "tools" }, this.#finder.element, jump, this.#period.element, this.#scope.element, this.#ranking.element);
  }

  /** @param {Partial<Address>} change */
  #choose(change) {
    this.#context.go(this.#link(change));
  }

  /** @param {Partial<Address>} change */
  #link(change) {
    return boardAddress({ ...this.#address, ...change });
  }

  async #open() {
    try {
      const board = await getBoard(this.#id);
      if (this.#isClosed) return;
      this.#board = board;
      const title = board.title || board.id;
      this.#context.setTitle(title);
      this.#title.replaceChildren(name(title));
      this.element.replaceChildren(...this.#parts);
    } catch (error) {
      return this.element.replaceChildren(errorNotice(error, () => this.#open()));
    }
    await this.#showLadder();
  }

  /** Show the ladder that the address names, from where it says. */
  async #showLadder() {
    const visit = (this.#visit += 1);
    this.#unwatch();
    this.#news.say("");
    this.#showChoices();
    this.#loadChoices(visit);
    try {
      const { player, from } = this.#address;
      const [ladder, window] = [this.#ladder, this.#window];
      this.#first = 1;
      if (this.#isScreen) this.#rotation.start();
      else this.#rotation.stop();
      const at = player === undefined ? null : await findStanding(this.#id, player, { ...ladder, ranking: "ordinal" });
      const first = this.#isScreen ? 1 : at === null ? (from ?? 1) : Math.max(1, at.rank - ABOVE);
      if (visit !== this.#visit) return;
      const page = await this.#list.open(this.#source(), first);
      if (page === null || visit !== this.#visit) return;
      const hasTurned = page.period === this.#shown && window === this.#shownWindow && page.state !== this.#state;
      this.#shown = page.period;
      this.#shownWindow = window;
      this.#state = page.state;
      this.#clock.show(this.#isPast ? null : this.#board?.periods[this.#window]);
      this.#showFacts();
      this.#reveal(at);
      if (hasTurned) this.#announceEnd();
      this.#place = await this.#find();
      if (visit !== this.#visit) return;
      this.#followed.show(ladder, this.#place);
      this.#showRace();
      this.#watch();
    } catch (error) {
      if (visit === this.#visit) this.#showError(error);
    }
  }

  /** The ladder cannot be shown, and nothing stays that was said of another one. @param {unknown} error */
  #showError(error) {
    this.#list.notice(errorNotice(error, () => this.#showLadder()));
    this.#race.show(null);
    this.#clock.show(null);
    this.#followed.clear();
    const { period } = this.#address;
    setText(this.#facts, [windowName(this.#window), ...(period === undefined ? [] : [periodName(period)])].join(" · "));
  }

  #showRace() {
    const [ladder, window] = [this.#ladder, this.#window];
    if (!this.#board?.history) return this.#race.show(null);
    const leaders = async () => this.#list.head(RUNNERS) ?? (await listStandings(this.#id, ladder, { limit: RUNNERS })).standings;
    const link = (/** @type {string} */ player) => playerAddress({ page: "player", board: this.#id, player, window });
    this.#race.show({ board: this.#id, ladder, period: this.#shown, leaders, link });
  }

  /** Say what has just become of the period that is shown. */
  #announceEnd() {
    const [winner] = this.#list.head(1) ?? [];
    if (this.#state === "ended") this.#news.say("It has ended. Scores that are late may still count.");
    else if (this.#state === "closed") this.#news.say("No more scores count: the result is under review.");
    else if (this.#state === "settled" && winner !== undefined) this.#news.say(`The result is final: ${winner.name ?? winner.player} is first.`);
  }

  /** @returns {import("../ladder_list.js").Source} */
  #source() {
    const { subscore, history } = /** @type {Board} */ (this.#board);
    const [ladder, window] = [this.#ladder, this.#window];
    const table = new StandingsTable({
      caption: `Standings, ${windowName(window)}, ${ladder.period ? periodName(ladder.period) : "now"}, ${ladder.scope ?? "global"}`,
      link: (player) => playerAddress({ page: "player", board: this.#id, player, window }),
      subscore: subscore && "Subscore",
      since: (time) => sinceWords(time, history?.every, Date.now()),
    });
    const whenEmpty = this.#isPast ? "There were no entries." : "The first score will appear here as soon as it arrives.";
    const rows = this.#isScreen ? rowsThatFit(this.#list.element) : undefined;
    const include = movementOf(this.#board);
    return { load: (part) => listStandings(this.#id, ladder, { ...part, include }), table, marked: this.#subject, whenEmpty, rows };
  }

  /** On the big screen: the next page, if there is more than one. */
  async #turnPage() {
    const visit = this.#visit;
    const first = nextPage({ first: this.#first, rows: this.#list.rows, total: this.#list.total });
    if (first === this.#first || document.hidden) return;
    try {
      const page = await this.#list.open(this.#source(), first);
      if (page === null || visit !== this.#visit) return;
      this.#first = first;
      this.#unwatch();
      this.#watch();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error; // the page that is shown stays until the next turn
    }
  }

  #showChoices() {
    const board = /** @type {Board} */ (this.#board);
    const link = (/** @type {string} */ window) => this.#link({ window, period: undefined, from: undefined });
    const links = windowLinks(windowsOf(board), this.#window, link);
    const hadFocus = this.#tabs.contains(document.activeElement);
    this.#tabs.replaceChildren(links);
    if (hadFocus) /** @type {HTMLElement | null} */ (links.querySelector("[aria-current]"))?.focus();
    setText(this.#screen, this.#isScreen ? "Exit big screen" : "Big screen");
    this.#ranking.show(rankingOptions(), this.#address.ranking ?? board.ranking);
  }

  /** @param {number} visit */
  async #loadChoices(visit) {
    try {
      const [{ periods }, { scopes }] = await Promise.all([listPeriods(this.#id, this.#window), listScopes(this.#id, this.#ladder)]);
      if (visit !== this.#visit) return;
      this.#period.show(periodOptions(periods), (this.#isPast && this.#address.period) || "");
      this.#scope.show(scopeOptions(scopes), this.#address.scope ?? "global");
    } catch (error) {
      if (!(error instanceof ApiError)) throw error; // the standings say what is wrong
    }
  }

  #showFacts() {
    const words = [plural(this.#list.total, "player"), windowName(this.#window)];
    const board = /** @type {Board} */ (this.#board);
    const { closes_at = null } = board.periods[this.#window] ?? {};
    words.push(...periodWords({ period: this.#shown, closes_at, state: this.#state }, board.timezone));
    setText(this.#facts, words.filter(Boolean).join(" · "));
  }

  /** @param {Place | null} at where the player who was looked for is */
  #reveal(at) {
    const { player, from = 1 } = this.#address;
    if (player !== undefined && at === null) return this.#news.say(`${player} is not on this list.`);
    if (from > Math.max(1, this.#list.total)) this.#news.say(`The last rank is ${formatCount(this.#list.total)}.`);
    if (!this.#isScreen && (at !== null || from > 1)) this.#list.reveal(player);
  }

  #watch() {
    if (this.#isPast) return;
    const { scope } = this.#address;
    const watch = { board: this.#id, window: this.#window, scope, top: this.#list.topRows, player: this.#subject, include: movementOf(this.#board) };
    this.#unwatch = this.#context.live.watch(watch, (message) => this.#hear(message));
  }

  /** @param {import("../live.js").Message} message */
  #hear(message) {
    const { ranking } = /** @type {Board} */ (this.#board);
    const isAsShown = (this.#address.ranking ?? ranking) === ranking;
    if (message.type === "error") this.#news.say(message.problem.detail ?? message.problem.title);
    else if (message.type === "rank") this.#follow(isAsShown ? message.standing : this.#find());
    else if (message.type === "top" && (message.period !== this.#shown || message.state !== this.#state)) this.#rollOver();
    else if (message.type === "top") {
      this.#list.follow(/** @type {any} */ (message), isAsShown);
      this.#followed.refresh();
    }
  }

  /** Another period has begun, or a season opened or ended: show it or, if the old one was asked for, that it is final. */
  #rollOver() {
    this.#unwatch();
    const visit = this.#visit;
    afterRollOver(() => visit === this.#visit && this.#showNow());
  }

  async #showNow() {
    const visit = this.#visit;
    try {
      const board = await getBoard(this.#id);
      if (visit !== this.#visit) return;
      this.#board = board;
      this.#showLadder();
    } catch (error) {
      if (visit === this.#visit) this.#list.notice(errorNotice(error, () => this.#showNow()));
    }
  }

  /** Where the followed player stands, in the ranks that are shown. */
  async #find() {
    const player = this.#subject;
    return player === undefined ? null : findStanding(this.#id, player, this.#ladder);
  }

  /** @param {Place | null | Promise<Place | null>} found where the followed player stands now */
  async #follow(found) {
    const visit = this.#visit;
    const standing = await found;
    if (visit !== this.#visit) return;
    const before = this.#place;
    this.#place = this.#followed.place = standing;
    if (standing === null || before === null || before.rank === standing.rank) return;
    this.#news.say(`${standing.name ?? standing.player} is now ${formatCount(standing.rank)} of ${formatCount(standing.total)}`);
  }

  /** Who leaves the full screen with Escape leaves the big screen, too. */
  #leaveScreen = () => {
    if (document.fullscreenElement === null && this.#isScreen) this.#choose({ view: undefined });
  };

  #toggleScreen() {
    const isScreen = this.#isScreen;
    this.#choose({ view: isScreen ? undefined : "screen", from: undefined });
    if (isScreen && document.fullscreenElement) document.exitFullscreen();
    else if (!isScreen) document.documentElement.requestFullscreen?.().catch(() => {}); // the layout is enough
  }
}
