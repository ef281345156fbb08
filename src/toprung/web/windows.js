/** The windows of a board. */

/** @typedef {import("./api.js").Board} Board */

/** @param {Board} board @returns {string[]} */
export function windowsOf(board) {
  return board.windows.map((window) => (typeof window === "string" ? window : window.name));
}

/** The window that is read when none is named. @param {Board} board */
export function defaultWindow(board) {
  const windows = windowsOf(board);
  return windows.includes("all-time") ? "all-time" : windows[0];
}

/** The window whose period ends next; the default one, if none ends. @param {Board} board */
export function soonestWindow(board) {
  const ends = windowsOf(board).filter((window) => board.periods[window]?.closes_at);
  const end = (/** @type {string} */ window) => Date.parse(/** @type {string} */ (board.periods[window].closes_at));
  return ends.sort((a, b) => end(a) - end(b))[0] ?? defaultWindow(board);
}
