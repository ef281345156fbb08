/** What moderators ask of the service, and have it do. Scores are text, as everywhere. */

import { query } from "./address.js";
import { ApiError, ask, at, send } from "./api.js";

/**
 * @typedef {Object} Pending a submission that waits for a verdict
 * @property {string} submission
 * @property {string} board
 * @property {string} player
 * @property {string} [name]
 * @property {string} score
 * @property {string} at
 * @property {string[]} reasons
 * @property {string} expires_at
 * @property {"accept" | "reject"} otherwise
 * @property {string} [best] the best score that counts
 * @property {number} [provisional_rank]
 * @property {string} [claimed_by]
 */
/** @typedef {{verdict: "accepted" | "rejected", by: string, reason: string}} Verdict */
/**
 * @typedef {Object} CaseSubmission a submission, and why it counted or not
 * @property {string} submission
 * @property {string} score
 * @property {string} at
 * @property {string} status
 * @property {string[]} [reasons]
 * @property {Verdict} [verdict]
 * @property {string} [revoked_at]
 * @property {string} [reason] why it was revoked
 */
/** @typedef {{window: string, period: string, score_before: string, score: string | null, rank_before: number | null, rank: number | null}} RevokedWindow */
/** @typedef {{submission: string, score: string, windows: RevokedWindow[], settled?: Object<string, string>, was_revoked: boolean}} Revocation */
/** @typedef {"hidden" | "shadow" | "banned"} RestrictionKind */
/** @typedef {{player: string, kind: RestrictionKind, boards: string[], reason: string, at: string, until?: string, by?: string}} Restriction */
/** @typedef {{position: number, at: string, act: string, actor: string, actor_id: string, reason: string, board: string | null, player: string | null, subject: string | null}} Act */

/** @param {{board?: string, cursor?: string}} asked @returns {Promise<{submissions: Pending[], next: string | null}>} */
export const listReview = (asked) => ask("/v1/review", { limit: 50, ...asked });

/** @param {string} submission @param {"accept" | "reject"} verdict @param {string} reason */
export const decide = (submission, verdict, reason) => send("POST", about(submission, "verdict"), { verdict, reason });

/** @param {string} board @param {string} player @param {string} [cursor] @returns {Promise<{submissions: CaseSubmission[], next: string | null}>} */
export const listCase = (board, player, cursor) => ask(at(board, "players", player, "submissions"), { limit: 50, cursor });

/** @param {string} submission @param {string} reason @param {boolean} isTrial whether nothing is to be recorded @returns {Promise<Revocation>} */
export const revoke = (submission, reason, isTrial) =>
  send("POST", about(submission, "revoke") + query({ numbers: "string", dry_run: isTrial ? "true" : undefined }), { reason });

/** @param {string} player @returns {Promise<Restriction | null>} null: there is none */
export async function findRestriction(player) {
  try {
    return await send("GET", ofPlayer(player));
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

/** @param {string} player @param {{kind: string, boards: string[], until: string | null, reason: string}} restriction */
export const restrict = (player, restriction) => send("PUT", ofPlayer(player), restriction);

/** @param {string} player */
export const lift = (player) => send("DELETE", ofPlayer(player));

/** @param {{actor?: string, board?: string, cursor?: string}} asked @returns {Promise<{acts: Act[], next: string | null}>} */
export const listActs = (asked) => ask("/v1/audit", { limit: 50, ...asked }, false);

/** @param {string} submission @param {string} what */
const about = (submission, what) => `/v1/submissions/${encodeURIComponent(submission)}/${what}`;

/** @param {string} player */
const ofPlayer = (player) => `/v1/players/${encodeURIComponent(player)}/restriction`;
