/** A field that finds players by name or id: what fits is offered while the viewer types. */

import { ApiError } from "./api.js";
import { el, name } from "./dom.js";
import { formatCount } from "./numbers.js";
import { throttled } from "./times.js";

/** @typedef {import("./api.js").Standing} Standing */

const ASK_MS = 250;

export class Finder {
  #input = /** @type {HTMLInputElement} */ (
    el("input", {
      id: "ask-find", class: "field", required: true, autocomplete: "off", maxlength: 256, placeholder: "name or player id",
      role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": "found",
      on: {
        input: () => this.#look(),
        keydown: (/** @type {KeyboardEvent} */ event) => this.#move(event),
        blur: () => this.#offer([]),
      },
    })
  );
  #found = el("ul", { id: "found", class: "found", role: "listbox", "aria-label": "Players", hidden: true });
  /** @type {Standing[]} */
  #offered = [];
  #chosen = -1;
  #closed = 0; // how often the viewer has put an offer away: answers to what was asked before are not shown
  #look = throttled(() => this.#ask(), ASK_MS);
  #find;
  #go;

  /**
   * @param {(text: string) => Promise<{standings: Standing[]}>} find
   * @param {(player: string) => void} go
   * @param {string} [text] what the field holds to begin with
   */
  constructor(find, go, text = "") {
    this.#find = find;
    this.#go = go;
    this.#input.value = text;
    const submit = (/** @type {Event} */ event) => {
      event.preventDefault();
      this.#submit();
    };
    this.element = el(
      "form",
      { class: "ask", on: { submit } },
      el("label", { for: "ask-find" }, "Find a player"),
      el("div", { class: "joined" }, this.#input, el("button", { class: "button" }, "Find"), this.#found),
    );
  }

  close() {
    this.#look.cancel();
  }

  /** Ask who fits what the field holds now. @returns {Promise<Standing[]>} */
  async #ask() {
    const text = this.#input.value.trim();
    const closed = this.#closed;
    try {
      const standings = text === "" ? [] : (await this.#find(text)).standings;
      if (text === this.#input.value.trim() && closed === this.#closed) this.#offer(document.activeElement === this.#input ? standings : []);
      return standings;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#offer([]);
      return [];
    }
  }

  /** Go to the one who is meant, or offer those who may be; an id that nobody here has says so itself. */
  async #submit() {
    const text = this.#input.value.trim();
    const chosen = this.#offered[this.#chosen];
    if (chosen !== undefined) return this.#take(chosen);
    const standings = await this.#ask();
    const exact = standings.find(({ player }) => player === text);
    if (exact !== undefined || standings.length === 1) return this.#take(exact ?? standings[0]);
    if (standings.length === 0) this.#go(text);
  }

  /** @param {Standing} standing */
  #take({ player }) {
    this.#close();
    this.#go(player);
  }

  /** Put the offer away, and whatever is still to be asked or answered. */
  #close() {
    this.#look.cancel();
    this.#closed += 1;
    this.#offer([]);
  }

  /** @param {Standing[]} standings */
  #offer(standings) {
    this.#offered = standings;
    this.#chosen = -1;
    const names = standings.map((standing) => standing.name ?? standing.player);
    const isShared = (/** @type {string} */ label) => names.filter((each) => each === label).length > 1;
    this.#found.replaceChildren(...standings.map((standing, index) => this.#option(standing, index, isShared(names[index]))));
    this.#found.hidden = standings.length === 0;
    this.#input.setAttribute("aria-expanded", String(standings.length > 0));
    this.#input.removeAttribute("aria-activedescendant");
  }

  /** @param {Standing} standing @param {number} index @param {boolean} isNamesake */
  #option(standing, index, isNamesake) {
    const { player, rank } = standing;
    const choose = (/** @type {Event} */ event) => {
      event.preventDefault(); // the field keeps the focus
      this.#take(standing);
    };
    return el(
      "li",
      { id: `found-${index}`, role: "option", "aria-selected": "false", on: { mousedown: choose } },
      name(standing.name ?? player),
      isNamesake && name(player, { class: "found-id" }),
      el("span", { class: "found-rank" }, `#${formatCount(rank)}`),
    );
  }

  /** @param {KeyboardEvent} event */
  #move(event) {
    if (event.key === "Escape") return this.#close();
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const count = this.#offered.length;
    if (step === undefined || count === 0) return;
    event.preventDefault();
    this.#chosen = (this.#chosen + step + count + (this.#chosen < 0 && step < 0 ? 1 : 0)) % count;
    [...this.#found.children].forEach((option, index) => option.setAttribute("aria-selected", String(index === this.#chosen)));
    this.#input.setAttribute("aria-activedescendant", `found-${this.#chosen}`);
  }
}
