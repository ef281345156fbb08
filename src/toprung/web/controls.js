/** What a viewer of a board can choose. Each choice is an address. */

import { el, setText } from "./dom.js";
import { formatCount } from "./numbers.js";
import { periodGroup, periodName, windowName } from "./times.js";

/** @typedef {import("./address.js").Ladder} Ladder */
/** @typedef {[value: string, label: string, group?: string]} Option */

/** More options than these are grouped. */
const UNGROUPED_MAX = 15;

const RANKINGS = { ordinal: "1 2 3 4 · no shared ranks", competition: "1 1 3 4 · ties share a rank", dense: "1 1 2 3 · ties share, no gaps" };

/**
 * Windows, as links; the current one is marked.
 * @param {string[]} windows
 * @param {string} current
 * @param {(window: string) => string} link
 */
export function windowLinks(windows, current, link) {
  const links = windows.map((window) => el("a", { href: link(window), "aria-current": window === current && "page" }, windowName(window)));
  return el("nav", { class: "tabs", "aria-label": "Window", hidden: windows.length === 1 }, ...links);
}

/** Choices as a list that opens. */
export class Choice {
  #select;

  /** @param {string} label @param {(value: string) => void} choose */
  constructor(label, choose) {
    const id = `choose-${label.toLowerCase()}`;
    this.#select = /** @type {HTMLSelectElement} */ (el("select", { id, class: "field", on: { change: () => choose(this.#select.value) } }));
    this.element = el("div", { class: "choice" }, el("label", { for: id }, label), this.#select);
  }

  /** @param {Option[]} options @param {string} chosen */
  show(options, chosen) {
    const known = options.some(([value]) => value === chosen) ? options : [...options, /** @type {Option} */ ([chosen, chosen])];
    /** @type {Map<string, HTMLElement>} */
    const groups = new Map();
    const shown = known.map(([value, label, group = ""]) => {
      const option = el("option", { value, selected: value === chosen }, label);
      if (group === "") return option;
      const found = groups.get(group);
      if (found !== undefined) return found.append(option);
      groups.set(group, el("optgroup", { label: group }, option));
      return groups.get(group);
    });
    this.#select.replaceChildren(...shown.filter((each) => each !== undefined));
    this.element.hidden = known.length < 2;
  }
}

/** Periods to choose from; many of them in groups. @param {import("./api.js").Period[]} periods newest first @returns {Option[]} */
export function periodOptions(periods) {
  const isLong = periods.length > UNGROUPED_MAX;
  return periods.map(({ period }, index) => (index ? [period, periodName(period), isLong ? periodGroup(period) : ""] : ["", "Current"]));
}

/** @param {{scope: string, total: number}[]} scopes @returns {[string, string][]} */
export function scopeOptions(scopes) {
  const label = (/** @type {string} */ scope) => (scope === "global" ? "Everyone" : scope.replace(":", ": "));
  return scopes.map(({ scope, total }) => [scope, `${label(scope)} (${formatCount(total)})`]);
}

/** @returns {[string, string][]} */
export function rankingOptions() {
  return Object.entries(RANKINGS);
}

/**
 * A field with a button: find a player, go to a rank.
 * @param {{label: string, action: string, attributes: import("./dom.js").Props, go: (text: string) => void}} form
 */
export function askForm({ label, action, attributes, go }) {
  const id = `ask-${action.toLowerCase()}`;
  const input = /** @type {HTMLInputElement} */ (el("input", { id, class: "field", required: true, autocomplete: "off", ...attributes }));
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    go(input.value);
  };
  return el("form", { class: "ask", on: { submit } }, el("label", { for: id }, label), el("div", { class: "joined" }, input, el("button", { class: "button" }, action)));
}

/** A line that says something now and then, and says it to screen readers, too. */
export class Announcement {
  element = el("p", { class: "announcement", role: "status" });

  /** @param {string} text */
  say(text) {
    setText(this.element, text);
  }
}
