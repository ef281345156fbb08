/** A clock that runs towards the end of a period or, if it has not opened yet, towards its beginning. */

import { el, setText } from "./dom.js";
import { formatMoment, timeLeft } from "./times.js";

/** One timer serves all clocks of the page. @type {Set<Countdown>} */
const running = new Set();
/** @type {number | undefined} */
let timer;

export class Countdown {
  #parts = el("span", { class: "clock-parts", "aria-hidden": "true" });
  #words = el("span", { class: "unseen" });
  #label = el("span", { class: "clock-label" });
  /** @type {number | null} */
  #end = null;
  #hasEnded = false;
  #tell;

  /** @param {() => void} tell hears once of every end that is reached while it is shown */
  constructor(tell = () => {}) {
    this.#tell = tell;
    this.element = el("p", { class: "clock", hidden: true }, this.#label, this.#parts, this.#words);
  }

  /** @param {import("./api.js").Period | null | undefined} period nothing is shown of one that is over or never closes */
  show(period) {
    const isUpcoming = period?.state === "upcoming";
    const time = isUpcoming ? period.opens_at : period?.state === "open" ? period.closes_at : null;
    setText(this.#label, isUpcoming ? "opens in" : "closes in");
    this.#end = time ? Date.parse(time) : null;
    this.#hasEnded = this.#end !== null && Date.now() >= this.#end;
    this.element.hidden = this.#end === null;
    if (this.#end === null || !time) return this.stop();
    setText(this.#words, formatMoment(time));
    this.element.title = formatMoment(time);
    running.add(this);
    timer ??= setInterval(tick, 1000);
    this.tick(Date.now());
  }

  /** @param {number} now */
  tick(now) {
    if (this.#end === null) return;
    if (now >= this.#end && !this.#hasEnded) {
      this.#hasEnded = true;
      this.#tell();
    }
    const parts = timeLeft(this.#end - now);
    if (this.#parts.childElementCount !== parts.length) {
      this.#parts.replaceChildren(...parts.map(() => el("span", { class: "clock-part" }, el("b"), el("i"))));
    }
    parts.forEach(({ value, unit }, index) => {
      const [digits, label] = this.#parts.children[index].children;
      setText(digits, value);
      setText(label, unit);
    });
  }

  stop() {
    running.delete(this);
    if (running.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  }
}

function tick() {
  const now = Date.now();
  for (const clock of running) clock.tick(now);
}
