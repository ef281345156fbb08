/** The windows of a board. */

/** @typedef {import("./api.js").Board} Board */

/** @param {Board} board @returns {string[]} */
export function windowsOf(board) {
  return board.windows.map((window) => (typeof window === "string" ? window : window.name));
}

/** The window that a board opens on: the one it declares, or else its first. @param {Board} board */
export function openingWindow(board) {
  return board.default_window ?? windowsOf(board)[0];
}
