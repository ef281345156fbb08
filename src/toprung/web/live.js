/**
 * The live connection: one WebSocket for the whole page, opened when somebody watches something,
 * opened again by itself when it breaks, each time with the tokens of what was seen last.
 */

import { currentKey } from "./keyring.js";

/** @typedef {{board: string, window?: string, scope?: string, top?: number, player?: string, friends?: boolean, include?: string}} Watch */
/** @typedef {{type: string, id: string, token: string} & Object<string, any>} Message */
/** @typedef {"idle" | "connecting" | "live" | "offline"} LiveState */

export const WATCHES_MAX = 48;
const DELAY_MIN = 300;
const DELAY_MAX = 5_000;

export class Live {
  /** @type {Map<string, {watch: Watch, hear: (message: Message) => void, token?: string}>} */
  #watches = new Map();
  /** @type {WebSocket | null} */
  #socket = null;
  /** @type {LiveState} */
  #state = "idle";
  #delay = DELAY_MIN;
  #count = 0;
  /** @type {number | undefined} */
  #timer;
  #tell;

  /** @param {(state: LiveState) => void} tell hears of every change of state */
  constructor(tell) {
    this.#tell = tell;
    addEventListener("online", () => this.#retry());
    document.addEventListener("visibilitychange", () => this.#retry());
  }

  /**
   * Watch a ladder until the returned function is called. Beyond WATCHES_MAX nothing is watched, and
   * what was loaded stays as it is.
   * @param {Watch} watch
   * @param {(message: Message) => void} hear
   * @returns {() => void}
   */
  watch(watch, hear) {
    const id = String((this.#count += 1));
    if (this.#watches.size >= WATCHES_MAX) return () => {};
    this.#watches.set(id, { watch, hear });
    if (this.#socket === null && this.#timer === undefined) this.#open();
    else this.#send({ subscribe: { id, numbers: "string", ...watch } });
    return () => {
      if (this.#watches.delete(id)) this.#send({ unsubscribe: id });
    };
  }

  /** Connect anew: the key is another one. */
  restart() {
    this.#socket?.close();
  }

  #open() {
    const key = currentKey();
    const address = `${location.origin.replace(/^http/, "ws")}/v1/live`;
    const socket = new WebSocket(address, key === null ? ["toprung.v1"] : ["toprung.v1", `bearer.${key}`]);
    this.#socket = socket;
    if (this.#state === "idle") this.#become("connecting");
    socket.onopen = () => {
      this.#delay = DELAY_MIN;
      this.#become("live");
      for (const [id, { watch, token }] of this.#watches) this.#send({ subscribe: { id, numbers: "string", token, ...watch } });
    };
    socket.onmessage = (event) => this.#hear(JSON.parse(event.data));
    socket.onclose = () => {
      this.#socket = null;
      if (this.#watches.size === 0) return this.#become("idle"); // it is opened when it is needed
      this.#become("offline");
      this.#timer = setTimeout(() => this.#retry(), this.#delay * (0.75 + Math.random() / 2));
      this.#delay = Math.min(DELAY_MAX, this.#delay * 2);
    };
  }

  #retry() {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#open();
  }

  /** @param {Message} message */
  #hear(message) {
    const watch = this.#watches.get(message.id);
    if (watch === undefined) return;
    watch.token = message.token;
    watch.hear(message);
  }

  /** @param {object} request */
  #send(request) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(request));
  }

  /** @param {LiveState} state */
  #become(state) {
    if (state === this.#state) return;
    this.#state = state;
    this.#tell(state);
  }
}
