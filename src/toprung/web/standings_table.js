/**
 * A table of standings that follows its ladder: rows are kept by player and glide to their new
 * places; a rank that changed shows by how much, since the newest snapshot if the board has any, or else just now.
 */

import { el, name, setText } from "./dom.js";
import { formatCount, groupDigits, isLong, shareOf, shortCount } from "./numbers.js";
import { ago, formatMoment } from "./times.js";

/** @typedef {import("./api.js").Standing} Standing */
/**
 * @typedef {Object} TableOptions
 * @property {string} caption
 * @property {(player: string) => string} link where a player's name leads
 * @property {string | null} [subscore] the heading of the subscore, if the board has one
 * @property {boolean} [isAmongFriends] whether ranks on the whole ladder stand beside; movement is that of these
 * @property {(time: string) => string} [since] how to say since when a player has moved
 */

const GLIDE = { duration: 450, easing: "cubic-bezier(.2,.8,.2,1)" };
const REDUCED = matchMedia("(prefers-reduced-motion: reduce)");
const GRAPHEMES = new Intl.Segmenter();

export class StandingsTable {
  /** @type {Map<string, Row>} */
  #rows = new Map();
  #caption = el("caption");
  #body = el("tbody");
  #options;

  /** @param {TableOptions} options */
  constructor(options) {
    this.#options = options;
    const column = (/** @type {string} */ label, /** @type {string} */ kind) =>
      el("th", { scope: "col", class: kind }, label);
    this.element = el(
      "table",
      { class: "standings" },
      this.#caption,
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          column("Rank", "rank"),
          column("Player", "player"),
          column("Score", "score"),
          options.subscore ? column(options.subscore, "subscore") : null,
          options.isAmongFriends ? column("Overall", "overall") : column("Achieved", "when"),
        ),
      ),
      this.#body,
    );
    this.caption = options.caption;
  }

  /** @param {string} text */
  set caption(text) {
    setText(this.#caption, text);
  }

  /**
   * @param {Standing[]} standings
   * @param {{marked?: string, best?: string, isSame?: boolean, isStill?: boolean}} [how] whom to
   *   mark; the best score; whether it is still the same ladder, so that changes mean something; and
   *   whether only the ends of the list change, so that nothing has to move
   */
  show(standings, { marked, best, isSame = false, isStill = false } = {}) {
    const focused = document.activeElement;
    const places = isSame && !isStill && !REDUCED.matches ? this.#places() : new Map();
    if (!isSame) this.#clear();
    this.element.toggleAttribute("data-long", standings.some(({ score }) => isLong(score)));
    this.element.toggleAttribute("data-movement", standings.some(({ movement }) => movement));
    this.#drop(standings);
    let at = this.#body.firstElementChild;
    for (const standing of standings) {
      let row = this.#rows.get(standing.player);
      if (row === undefined) {
        row = new Row(standing.player, this.#options);
        this.#rows.set(standing.player, row);
      }
      row.show(standing, { isMarked: standing.player === marked, best });
      if (row.element === at) at = at.nextElementSibling;
      else this.#body.insertBefore(row.element, at);
    }
    if (focused instanceof HTMLElement && focused !== document.activeElement && this.#body.contains(focused)) {
      focused.focus({ preventScroll: true }); // it was in a row that moved
    }
    this.#glide(places);
  }

  /** @param {string} player */
  row(player) {
    return this.#rows.get(player)?.element;
  }

  /** A row that is in sight now, and where: something to hold on to while others come and go. */
  anchor() {
    for (const { element } of this.#rows.values()) {
      const { top } = element.getBoundingClientRect();
      if (top >= 0 && top < innerHeight) return { element, top };
    }
    return null;
  }

  /** @param {Standing[]} standings */
  #drop(standings) {
    const kept = new Set(standings.map((standing) => standing.player));
    for (const [player, row] of this.#rows) {
      if (kept.has(player)) continue;
      row.element.remove();
      this.#rows.delete(player);
    }
  }

  #clear() {
    this.#rows.clear();
    this.#body.replaceChildren();
  }

  #places() {
    return new Map([...this.#rows].map(([player, row]) => [player, row.element.getBoundingClientRect().top]));
  }

  /** Begin where rows were, and move to where they are (first, last, invert, play). @param {Map<string, number>} places */
  #glide(places) {
    if (places.size === 0) return;
    const moves = [];
    for (const [player, { element }] of this.#rows) {
      const { top } = element.getBoundingClientRect();
      const before = places.get(player);
      const distance = before === undefined ? 0 : before - top;
      const isNear = top > -innerHeight && top < 2 * innerHeight;
      if (before === undefined && isNear) moves.push(() => element.animate({ opacity: [0, 1] }, GLIDE));
      else if (Math.abs(distance) > 1 && isNear) {
        moves.push(() => element.animate({ transform: [`translateY(${distance}px)`, "none"] }, GLIDE));
      }
    }
    for (const move of moves) move();
  }
}

class Row {
  #rank = el("span", { class: "rank-number" });
  #change = el("span", { class: "change" });
  #monogram = el("span", { class: "monogram", "aria-hidden": "true" });
  #name = name("");
  #link;
  #score = el("td", { class: "score" });
  #subscore;
  #overall = el("span");
  #last = el("td");
  /** @type {Standing | null} */
  #shown = null;
  #options;

  /** @param {string} player @param {TableOptions} options */
  constructor(player, options) {
    this.#options = options;
    this.#link = el("a", { class: "player-link", href: options.link(player) }, this.#monogram, this.#name);
    this.#subscore = options.subscore ? el("td", { class: "subscore" }) : null;
    this.#last.className = options.isAmongFriends ? "overall" : "when";
    if (options.isAmongFriends) this.#last.append(this.#overall, this.#change);
    this.#monogram.style.setProperty("--hue", String(hueOf(player)));
    this.element = el(
      "tr",
      { "data-player": player },
      el("td", { class: "rank" }, this.#rank, options.isAmongFriends ? null : this.#change),
      el("th", { scope: "row", class: "player" }, this.#link),
      this.#score,
      this.#subscore,
      this.#last,
    );
  }

  /** @param {Standing} standing @param {{isMarked: boolean, best?: string}} how */
  show(standing, { isMarked, best }) {
    const before = this.#shown;
    const label = standing.name ?? standing.player;
    setText(this.#rank, formatCount(standing.rank));
    setText(this.#name, label);
    this.#name.title = label;
    setText(this.#monogram, initialOf(label));
    setText(this.#score, groupDigits(standing.score));
    if (this.#subscore) setText(this.#subscore, groupDigits(standing.subscore ?? ""));
    const rank = this.#options.isAmongFriends ? (standing.global_rank ?? 0) : standing.rank;
    if (this.#options.isAmongFriends) setText(this.#overall, `#${formatCount(rank)}`);
    else {
      setText(this.#last, ago(standing.achieved_at, Date.now()));
      this.#last.title = formatMoment(standing.achieved_at);
    }
    this.element.dataset.medal = standing.rank <= 3 ? String(standing.rank) : "";
    this.element.toggleAttribute("data-marked", isMarked);
    if (isMarked) this.element.setAttribute("aria-current", "true");
    else this.element.removeAttribute("aria-current");
    this.element.style.setProperty("--share", best === undefined ? "0" : shareOf(standing.score, best).toFixed(4));
    if (standing.movement !== undefined && standing.movement !== null) this.#showMovement(standing.movement, rank);
    else if (before?.movement) this.#replaceChange(el("span", { class: "change" }));
    else if (before !== null && before.rank !== standing.rank) this.#showChange(before.rank - standing.rank);
    if (before !== null && before.score !== standing.score && !REDUCED.matches) {
      this.#score.animate({ color: ["var(--accent)", "var(--accent)", "currentColor"] }, { duration: 1600 });
    }
    this.#shown = standing;
  }

  /** @param {number} by how many ranks up */
  #showChange(by) {
    const change = el(
      "span",
      { class: by > 0 ? "change up" : "change down" },
      el("span", { "aria-hidden": "true" }, by > 0 ? "▲" : "▼"),
      el("span", { class: "unseen" }, by > 0 ? "up " : "down "),
      formatCount(Math.abs(by)),
    );
    this.#replaceChange(change); // a new element, so that it fades from the start again
  }

  /**
   * What a snapshot's rank and the one that is shown now amount to.
   * @param {NonNullable<import("./api.js").Movement>} movement
   * @param {number} rank
   */
  #showMovement(movement, rank) {
    const mark = movementMark(movement, rank, this.#options.since ?? ((time) => `since ${formatMoment(time)}`));
    if (mark !== null && (this.#change.title !== mark.title || !this.#change.classList.contains("movement"))) this.#replaceChange(mark);
  }

  /** @param {HTMLElement} change */
  #replaceChange(change) {
    this.#change.replaceWith(change);
    this.#change = change;
  }
}

/**
 * How far a player has moved, to be shown beside the rank; null if that is not known.
 * @param {import("./api.js").Movement | undefined} movement
 * @param {number} rank the rank now
 * @param {(time: string) => string} since
 */
export function movementMark(movement, rank, since) {
  if (movement === undefined || movement === null) return null;
  const { kind, sign, words } = movementWords(movement, rank, since);
  const hasWords = sign !== words;
  return el("span", { class: `movement ${kind}`, title: words }, el("span", { "aria-hidden": hasWords && "true" }, sign), hasWords && el("span", { class: "unseen" }, words));
}

/**
 * How far a player has moved, as a sign and in words.
 * @param {NonNullable<import("./api.js").Movement>} movement
 * @param {number} rank the rank now
 * @param {(time: string) => string} since
 */
export function movementWords(movement, rank, since) {
  if (movement === "new") return { kind: "new", sign: "new", words: "new" };
  const by = movement.rank - rank;
  const when = since(movement.since);
  if (by === 0) return { kind: "same", sign: "–", words: `unchanged ${when}` };
  const [kind, arrow] = by > 0 ? ["up", "▲"] : ["down", "▼"];
  return { kind, sign: `${arrow} ${shortCount(Math.abs(by))}`, words: `${kind} ${formatCount(Math.abs(by))} ${when}` };
}

/** The first character, as people count them. @param {string} label */
export function initialOf(label) {
  const [first] = GRAPHEMES.segment(label.trim());
  return first === undefined ? "?" : first.segment.toLocaleUpperCase();
}

/** A colour that stays with a player. @param {string} player */
export function hueOf(player) {
  let hash = 0;
  for (const character of player) hash = (hash * 31 + character.charCodeAt(0)) % 65_521;
  return (hash * 137) % 360; // near ids get far hues
}
