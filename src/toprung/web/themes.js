/** Light, dark, or what the system says. The choice is remembered. */

import { device } from "./stores.js";

const NAME = "toprung.theme";
const LABELS = { system: "Theme: auto", light: "Theme: light", dark: "Theme: dark" };
const ORDER = /** @type {(keyof LABELS)[]} */ (Object.keys(LABELS));

/** @returns {string} the label of the theme that was chosen last */
export function restoreTheme() {
  return apply(/** @type {keyof LABELS} */ (device.read(NAME) ?? "system"));
}

/** @returns {string} the label of the theme that comes after the current one */
export function nextTheme() {
  const current = /** @type {keyof LABELS} */ (document.documentElement.dataset.theme ?? "system");
  const next = ORDER[(ORDER.indexOf(current) + 1) % ORDER.length];
  device.write(NAME, next);
  return apply(next);
}

/** @param {keyof LABELS} theme */
function apply(theme) {
  document.documentElement.dataset.theme = theme in LABELS ? theme : "system";
  return LABELS[theme] ?? LABELS.system;
}
