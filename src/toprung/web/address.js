/**
 * What an address of this site means. Everything a viewer chose is in it, so that it can be shared
 * and the back button works.
 */

/**
 * @typedef {Object} Ladder which list of a board, and how its ranks count; undefined is the default
 * @property {string} [window]
 * @property {string} [period]
 * @property {string} [scope]
 * @property {string} [ranking]
 */
/**
 * @typedef {Ladder & {page: "boards" | "board" | "player" | "moderation" | "nowhere", board?: string,
 *   player?: string, from?: number, view?: "screen", part?: Part}} Address
 */

/** @typedef {"review" | "player" | "audit"} Part what the page for moderators shows */

/** @type {Part[]} */
const PARTS = ["review", "player", "audit"];
const LADDER = ["window", "period", "scope", "ranking"];

/**
 * @param {URL | Location} url
 * @returns {Address}
 */
export function parseAddress(url) {
  const segments = url.pathname.split("/").slice(1);
  const query = new URLSearchParams(url.search);
  const ladder = Object.fromEntries(LADDER.filter((key) => query.get(key)).map((key) => [key, query.get(key)]));
  try {
    const [kind, board, players, player] = segments.map(decodeURIComponent);
    if (kind === "" && segments.length === 1) return { page: "boards" };
    if (kind === "moderation" && segments.length === 1) return { page: "moderation", ...moderationChoices(query) };
    if (kind === "boards" && segments.length === 2) return { page: "board", board, ...ladder, ...boardChoices(query) };
    if (kind === "boards" && players === "players" && segments.length === 4) return { page: "player", board, player, ...ladder };
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
  }
  return { page: "nowhere" };
}

/** @param {URLSearchParams} query */
function boardChoices(query) {
  const from = Number(query.get("from"));
  return {
    ...(Number.isSafeInteger(from) && from > 0 && { from }),
    ...(query.get("player") && { player: /** @type {string} */ (query.get("player")) }),
    ...(query.get("view") === "screen" && { view: /** @type {const} */ ("screen") }),
  };
}

/** @param {URLSearchParams} query */
function moderationChoices(query) {
  const [board, player] = ["board", "player"].map((key) => query.get(key) || undefined);
  return { part: PARTS.find((part) => part === query.get("part")) ?? PARTS[0], board, player };
}

/** @param {{part?: Part, board?: string, player?: string}} address */
export function moderationAddress({ part, board, player }) {
  return `/moderation${query({ part: part === PARTS[0] ? undefined : part, board, player })}`;
}

/** @param {Address} address */
export function boardAddress({ board, window, period, scope, ranking, from, player, view }) {
  return `/boards/${encodeURIComponent(board ?? "")}${query({ window, period, scope, ranking, from, player, view })}`;
}

/** @param {Address} address */
export function playerAddress({ board, player, window }) {
  return `/boards/${encodeURIComponent(board ?? "")}/players/${encodeURIComponent(player ?? "")}${query({ window })}`;
}

/**
 * @param {Object<string, string | number | undefined | null>} values
 * @returns {string} with its question mark, or nothing
 */
export function query(values) {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const text = new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString();
  return text && `?${text}`;
}
