/**
 * <toprung-board>: a live board on any web page, in this one file.
 *
 *   <script type="module" src="https://scores.example/embed.js"></script>
 *   <toprung-board board="blitz" window="daily" top="10"></toprung-board>
 *
 * Attributes: `board`; `window` and `scope` (the board's default); `top` (10, at most 100); `movement`, to
 * show how players have moved, if the board keeps history; `src`, the service (where this file came from).
 * The board must be public. Colours and type are CSS custom
 * properties, listed in STYLE below. It imports nothing, so that it can be copied to any site.
 */

const STYLE = `
:host {
  --_ink: var(--toprung-ink, light-dark(#10162c, #eef1fc));
  --_soft: var(--toprung-ink-soft, light-dark(#525d7a, #a3aecd));
  --_surface: var(--toprung-surface, light-dark(#ffffff, #121930));
  --_line: var(--toprung-line, light-dark(#dce1ed, #26304f));
  --_accent: var(--toprung-accent, light-dark(#2b3fdc, #9aa8ff));
  --_up: var(--toprung-up, light-dark(#0a6b43, #55dba0));
  --_down: var(--toprung-down, light-dark(#a8231b, #ff938a));
  display: block;
  overflow: hidden;
  border: 1px solid var(--_line);
  border-radius: var(--toprung-radius, 0.875rem);
  background: var(--_surface);
  color: var(--_ink);
  font: 1rem/1.4 var(--toprung-font, system-ui, sans-serif);
  font-variant-numeric: tabular-nums;
}
:host([hidden]) { display: none }
header { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: baseline; gap: 0.25rem 1rem; padding: 1rem 1rem 0.5rem }
a { color: inherit; font-size: 1.15rem; font-weight: 750; letter-spacing: -0.01em; text-decoration: none; overflow-wrap: anywhere }
a:hover { text-decoration: underline }
a:focus-visible { outline: 3px solid var(--_accent); outline-offset: 2px }
p { margin: 0; color: var(--_soft); font-size: 0.8125rem }
a { flex: 1 1 100% }
.message { padding: 1.5rem 1rem; text-align: center; font-size: 1rem }
.message:empty, table:not(:has(tr)) { display: none }
table { width: 100%; border-collapse: collapse; table-layout: fixed }
th, td { box-sizing: border-box; padding: 0.5rem 1rem; border-top: 1px solid var(--_line); font-weight: inherit; text-align: start }
td:first-child { width: 4rem }
bdi { display: block; overflow: hidden; text-align: left; text-overflow: ellipsis; white-space: nowrap }
table[data-long] td:last-child { width: 12rem; font-size: 0.8125rem; letter-spacing: -0.02em; overflow-wrap: normal; white-space: nowrap }
td:last-child { width: 35%; text-align: end; font-weight: 650; overflow-wrap: anywhere }
.rank { display: inline-grid; place-items: center; min-width: 1.9rem; height: 1.9rem; border-radius: 50%; font-weight: 650 }
td:first-child:has(.movement) { width: 7rem; white-space: nowrap }
.movement { margin-inline-start: 0.375rem; color: var(--_soft); font-size: 0.8125rem; font-weight: 700 }
.movement[data-kind="up"] { color: var(--_up) }
.movement[data-kind="down"] { color: var(--_down) }
.movement[data-kind="new"] { color: var(--_accent) }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
.rank[data-medal="1"] { background: #f6c544; color: #3c2b00 }
.rank[data-medal="2"] { background: #ccd4e0; color: #232c3b }
.rank[data-medal="3"] { background: #dd9a66; color: #351a08 }
`;
/** @type {Object<string, string>} */
const WINDOWS = { "all-time": "All time", hourly: "Hourly", daily: "Daily", weekly: "Weekly", monthly: "Monthly", yearly: "Yearly" };
const CLOSING = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
const SINCE = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
const TOP_MAX = 100;
const DELAY_MIN = 500;
const DELAY_MAX = 10_000;
/** When the board's title and period are asked for again, if that failed. */
const ASK_AGAIN_MS = 2_000;
const GLIDE = { duration: 450, easing: "cubic-bezier(.2,.8,.2,1)" };

/** @typedef {{since: string, rank: number} | "new" | null} Movement null: there is no snapshot of the ladder */
/** @typedef {{rank: number, player: string, name?: string, score: string, movement?: Movement}} Standing */

class ToprungBoard extends HTMLElement {
  static observedAttributes = ["src", "board", "window", "scope", "top", "movement"];
  /** @type {WebSocket | null} */
  #socket = null;
  /** @type {number | undefined} */
  #timer;
  /** @type {number | undefined} */
  #asking;
  #delay = DELAY_MIN;
  #hasStarted = false;
  #link = document.createElement("a");
  #period = document.createElement("p");
  #facts = document.createElement("p");
  /** The period whose beginning or end is to be told, and its state. */
  #wanted = "";
  #message = document.createElement("p");
  #table = document.createElement("table");
  #body = document.createElement("tbody");
  /** @type {Map<string, HTMLTableRowElement>} */
  #rows = new Map();

  constructor() {
    super();
    const root = this.attachShadow({ mode: "open" });
    const style = new CSSStyleSheet();
    style.replaceSync(STYLE);
    root.adoptedStyleSheets = [style];
    const header = document.createElement("header");
    this.#period.className = "period";
    header.append(this.#link, this.#period, this.#facts);
    this.#message.className = "message";
    this.#message.role = "status";
    this.#table.append(this.#body);
    root.append(header, this.#message, this.#table);
  }

  connectedCallback() {
    this.#start();
  }

  disconnectedCallback() {
    this.#stop();
  }

  attributeChangedCallback() {
    if (!this.#hasStarted) return; // attributes that are there from the beginning
    this.#stop();
    this.#start();
  }

  get #service() {
    return new URL(this.getAttribute("src") ?? import.meta.url, document.baseURI).origin;
  }

  get #board() {
    return this.getAttribute("board") ?? "";
  }

  #start() {
    this.#hasStarted = true;
    this.#rows.clear();
    this.#body.replaceChildren();
    this.#facts.textContent = "";
    this.#message.textContent = "Loading …";
    this.#period.textContent = "";
    this.#link.href = `${this.#service}/boards/${encodeURIComponent(this.#board)}`;
    this.#link.textContent = this.#board;
    this.#connect();
  }

  #stop() {
    clearTimeout(this.#timer);
    clearTimeout(this.#asking);
    this.#wanted = "";
    const socket = this.#socket;
    this.#socket = null;
    if (socket?.readyState === WebSocket.CONNECTING) socket.onopen = () => socket.close();
    else socket?.close();
  }

  /** Load the board's title, and which window is shown and when it closes, and try until it works. */
  async #loadBoard() {
    const [board, wanted] = [this.#board, this.#wanted];
    const rules = await fetch(`${this.#service}/v1/boards/${encodeURIComponent(board)}`)
      .then((answer) => (answer.ok ? answer.json() : null))
      .catch(() => null);
    if (board !== this.#board || wanted !== this.#wanted) return; // something else is shown by now
    if (rules !== null) this.#showBoard(rules);
    else this.#asking = setTimeout(() => this.#loadBoard(), ASK_AGAIN_MS);
    this.#table.ariaLabel = `Standings of ${this.#link.textContent}`;
  }

  /** @param {any} rules */
  #showBoard(rules) {
    const window = this.getAttribute("window") ?? windowOf(rules);
    this.#link.textContent = rules.title || this.#board;
    this.#link.href = `${this.#service}/boards/${encodeURIComponent(this.#board)}?window=${encodeURIComponent(window)}`;
    this.#period.textContent = [WINDOWS[window] ?? window, ...stateWords(rules.periods[window])].join(" \u00b7 ");
  }

  #connect() {
    const socket = new WebSocket(`${this.#service.replace(/^http/, "ws")}/v1/live`, ["toprung.v1"]);
    this.#socket = socket;
    socket.onopen = () => {
      this.#delay = DELAY_MIN;
      const top = Math.min(TOP_MAX, Math.max(1, Number(this.getAttribute("top")) || 10));
      const ladder = { window: this.getAttribute("window") ?? undefined, scope: this.getAttribute("scope") ?? undefined };
      const include = this.hasAttribute("movement") ? "movement" : undefined;
      socket.send(JSON.stringify({ subscribe: { id: "board", board: this.#board, top, numbers: "string", include, ...ladder } }));
    };
    socket.onmessage = (event) => this.#hear(JSON.parse(event.data));
    socket.onclose = () => {
      if (this.#socket !== socket) return;
      this.#facts.textContent = "Reconnecting …";
      this.#timer = setTimeout(() => this.#connect(), this.#delay * (0.75 + Math.random() / 2));
      this.#delay = Math.min(DELAY_MAX, this.#delay * 2);
    };
  }

  /** @param {any} message */
  #hear(message) {
    if (message.type === "error") {
      this.#message.textContent = `This board cannot be shown: ${message.problem.detail ?? message.problem.title}`;
      this.#stop();
    } else if (message.type === "top") {
      this.#showPeriod(`${message.period} ${message.state}`);
      this.#facts.textContent = `${group(String(message.total))} player${message.total === 1 ? "" : "s"}`;
      this.#message.textContent = message.total === 0 ? "No scores yet" : "";
      this.#show(message.standings);
    }
  }

  /** Say when the period opens or closes, once it is known which one it is, and again when that changes. @param {string} period and its state */
  #showPeriod(period) {
    if (this.#wanted === period) return;
    this.#wanted = period;
    clearTimeout(this.#asking);
    this.#loadBoard();
  }

  /** @param {Standing[]} standings */
  #show(standings) {
    this.#table.toggleAttribute("data-long", standings.some(({ score }) => score.length > 12));
    const places = new Map([...this.#rows].map(([player, row]) => [player, row.getBoundingClientRect().top]));
    const rows = new Map(standings.map((standing) => [standing.player, fill(this.#rows.get(standing.player) ?? emptyRow(), standing)]));
    this.#rows = rows;
    this.#body.replaceChildren(...rows.values());
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    for (const [player, row] of rows) {
      const distance = (places.get(player) ?? NaN) - row.getBoundingClientRect().top;
      if (Math.abs(distance) > 1) row.animate({ transform: [`translateY(${distance}px)`, "none"] }, GLIDE);
    }
  }
}

/** The window that is read when none is named. @param {{default_window: string | null, windows: (string | {name: string})[]}} rules */
function windowOf({ default_window, windows }) {
  const names = windows.map((window) => (typeof window === "string" ? window : window.name));
  return default_window ?? (names.includes("all-time") ? "all-time" : names[0]);
}

/** What is said of a period that is over. @type {Record<string, string>} */
const ENDS = { ended: "ended", closed: "under review", settled: "final" };

/** When a period opens or closes, or that it is over. @param {{opens_at: string | null, closes_at: string | null, state: string} | undefined} period */
function stateWords(period) {
  const { opens_at = null, closes_at = null, state = "open" } = period ?? {};
  if (state in ENDS) return [ENDS[state]];
  const time = state === "upcoming" ? opens_at : closes_at;
  return time === null ? [] : [`${state === "upcoming" ? "opens" : "closes"} ${CLOSING.format(new Date(time))}`];
}

function emptyRow() {
  const row = document.createElement("tr");
  const rank = row.insertCell();
  rank.append(document.createElement("span"));
  const player = document.createElement("th");
  player.scope = "row";
  player.append(document.createElement("bdi"));
  row.append(player);
  row.insertCell();
  return row;
}

/** @param {HTMLTableRowElement} row @param {Standing} standing */
function fill(row, { rank, player, name, score, movement }) {
  const [first, second, third] = row.children;
  const badge = /** @type {HTMLElement} */ (first.firstElementChild);
  badge.className = "rank";
  badge.dataset.medal = String(rank);
  badge.textContent = String(rank);
  first.replaceChildren(badge, ...(movement ? [mark(movement, rank)] : []));
  const label = /** @type {HTMLElement} */ (second.firstElementChild);
  label.textContent = label.title = name ?? player; // text, whatever it says
  third.textContent = group(score);
  return row;
}

/** How far a player has moved: a sign, and words for who cannot see it. @param {NonNullable<Movement>} movement @param {number} rank */
function mark(movement, rank) {
  const by = movement === "new" ? NaN : movement.rank - rank;
  const kind = movement === "new" ? "new" : by > 0 ? "up" : by < 0 ? "down" : "same";
  const found = document.createElement("span");
  found.className = "movement";
  found.dataset.kind = kind;
  if (movement === "new") {
    found.textContent = found.title = "new";
    return found;
  }
  const [sign, words] = [document.createElement("span"), document.createElement("span")];
  sign.ariaHidden = "true";
  sign.textContent = by === 0 ? "\u2013" : `${by > 0 ? "\u25b2" : "\u25bc"} ${group(String(Math.abs(by)))}`;
  words.className = "unseen";
  words.textContent = `${by === 0 ? "unchanged" : `${kind} ${group(String(Math.abs(by)))}`} since ${SINCE.format(new Date(movement.since))}`;
  found.title = words.textContent;
  found.append(sign, words);
  return found;
}

/** Digits in groups of three; scores are texts and stay exact. @param {string} score */
function group(score) {
  const [whole, ...fraction] = score.split(".");
  return [whole.replace(/\B(?=(\d{3})+$)/g, ","), ...fraction].join(".");
}

customElements.define("toprung-board", ToprungBoard);
