/** Questions to the service. Answers carry scores as text. */

import { query } from "./address.js";
import { currentKey } from "./keyring.js";

/** @typedef {import("./address.js").Ladder} Ladder */
/**
 * @typedef {Object} Standing
 * @property {number} rank
 * @property {string} player
 * @property {string} score
 * @property {string} achieved_at
 * @property {string} [subscore]
 * @property {string} [name]
 * @property {number} [global_rank]
 * @property {Movement} [movement] since the newest snapshot, if it was asked for
 */
/** @typedef {{since: string, rank: number} | "new" | null} Movement null: there is no snapshot of the ladder */
/** @typedef {{snapshot: string, at: string, period: string, rank: number, total: number, score: string | null}} HistoryPoint */
/** @typedef {Standing & {total: number, percentile: number, top_percent: number, window: string, period: string, state: State}} Place */
/** @typedef {{total: number, period: string, state: State, standings: Standing[], next: string | null, prev: string | null}} Page */
/** @typedef {"upcoming" | "open" | "ended" | "closed" | "settled"} State */
/** @typedef {{period: string, opens_at: string | null, closes_at: string | null, state: State}} Period */
/**
 * @typedef {Object} Board
 * @property {string} id
 * @property {string} title
 * @property {"asc" | "desc"} order
 * @property {string} policy
 * @property {string | null} subscore
 * @property {string} ranking
 * @property {(string | {name: string})[]} windows
 * @property {string | null} default_window
 * @property {string} timezone
 * @property {string[]} scopes
 * @property {boolean} public
 * @property {{every: string, keep: number} | null} [history] how often snapshots are taken, if they are
 * @property {Object<string, Period>} periods
 */
/** @typedef {{include?: string}} Included what else each standing has */
/** @typedef {{submission: string, score: string, at: string, recorded_at: string, status: string, subscore?: string}} Submission */
/** @typedef {{total: number, buckets: {from: string, to: string, count: number}[]}} Distribution */

/** The service refused; `status` and `message` say why. Status 0: it could not be reached. */
export class ApiError extends Error {
  /** @param {number} status @param {string} message */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** @param {string} [cursor] @returns {Promise<{boards: Board[], next: string | null}>} */
export const listBoards = (cursor) => ask("/v1/boards", { limit: 24, cursor });

/** @param {string} board @returns {Promise<Board>} */
export const getBoard = (board) => ask(`/v1/boards/${encodeURIComponent(board)}`);

/** @param {string} board @param {string} window @returns {Promise<{periods: Period[]}>} */
export const listPeriods = (board, window) => ask(at(board, "periods"), { window }, false);

/** @param {string} board @param {Ladder} ladder @returns {Promise<{scopes: {scope: string, total: number}[]}>} */
export const listScopes = (board, { window, period }) => ask(at(board, "scopes"), { window, period }, false);

/**
 * @param {string} board
 * @param {Ladder} ladder
 * @param {{limit: number, cursor?: string, from?: number, include?: string}} part
 * @returns {Promise<Page>}
 */
export const listStandings = (board, ladder, part) => ask(at(board, "standings"), { ...ladder, ...part });

/** Where a player stood, newest first. @param {string} board @param {string} player @param {Ladder} ladder @returns {Promise<{points: HistoryPoint[]}>} */
export const getHistory = (board, player, { window, scope, ranking }) =>
  ask(at(board, "standings", player, "history"), { window, scope, ranking });

/** @param {string} board @param {string} player @param {Ladder & Included} ladder @returns {Promise<Place | null>} null: not on the ladder */
export async function findStanding(board, player, ladder) {
  try {
    return await ask(at(board, "standings", player), ladder);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

/** Players by how their names begin, or by id. @param {string} board @param {string} text @param {Ladder} ladder @returns {Promise<Page>} */
export const findPlayers = (board, text, ladder) => ask(at(board, "find"), { ...ladder, text, limit: 8 });

/** What to include in standings: how players have moved, if the board knows. @param {Board | null} board */
export const movementOf = (board) => (board?.history ? "movement" : undefined);

/** @param {string} board @param {string} player @param {Ladder & Included} ladder @returns {Promise<Page>} */
export const listNeighbours = (board, player, ladder) =>
  ask(at(board, "standings", player, "around"), { ...ladder, above: 3, below: 3 });

/** @param {string} board @param {string} player @param {Ladder & Included} ladder @returns {Promise<Page>} */
export const listFriends = (board, player, ladder) =>
  ask(at(board, "standings", player, "friends"), { ...ladder, limit: 20 });

/** @param {string} board @param {string} player @param {string} [cursor] @returns {Promise<{submissions: Submission[], next: string | null}>} */
export const listSubmissions = (board, player, cursor) =>
  ask(at(board, "players", player, "submissions"), { limit: 100, cursor });

/**
 * An answer, or null where it takes a key that the viewer does not have: a public board shows only standings.
 * @template T
 * @param {Promise<T>} answer
 * @returns {Promise<T | null>}
 */
export async function unlessPrivate(answer) {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError && (error.status === 401 || error.status === 403)) return null;
    throw error;
  }
}

/** @param {string} board @param {Ladder} ladder @returns {Promise<Distribution>} */
export const getDistribution = (board, { window, period, scope }) =>
  ask(at(board, "distribution"), { window, period, scope, buckets: 40 });

/** @param {string} board @param {...string} segments */
export function at(board, ...segments) {
  return ["/v1/boards", board, ...segments].map((each, index) => (index ? encodeURIComponent(each) : each)).join("/");
}

/**
 * @param {string} path
 * @param {Object<string, string | number | undefined>} [values]
 * @param {boolean} [hasScores] whether the answer carries scores
 */
export function ask(path, values = {}, hasScores = true) {
  const address = path + query(hasScores ? { ...values, numbers: "string" } : values);
  return send("GET", address);
}

/**
 * @param {"GET" | "POST" | "PUT" | "DELETE"} method
 * @param {string} address
 * @param {Object<string, unknown>} [body]
 */
export async function send(method, address, body) {
  const key = currentKey();
  const headers = new Headers(key === null ? {} : { authorization: `Bearer ${key}` });
  if (body !== undefined) headers.set("content-type", "application/json");
  let response;
  try {
    // What was kept is asked for again.
    response = await fetch(address, { method, headers, cache: "no-cache", body: body && JSON.stringify(body) });
  } catch {
    throw new ApiError(0, "The service cannot be reached.");
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new ApiError(response.status, answer.detail || answer.title || `status ${response.status}`);
  return answer;
}
