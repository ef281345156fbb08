/** What the viewer has shown to be let in, an access key or a player's token: kept for this tab, gone when it is closed. */

import { tab } from "./stores.js";

const NAME = "toprung.key";

export const currentKey = () => tab.read(NAME);

/** @param {string | null} key null forgets it */
export const keepKey = (key) => tab.write(NAME, key);

/** The player whose token it is; null for a key. Only the service knows whether the token is valid. @returns {string | null} */
export function me() {
  const [, claims, signature] = currentKey()?.split(".") ?? [];
  if (signature === undefined) return null;
  try {
    const bytes = Uint8Array.from(atob(claims.replaceAll("-", "+").replaceAll("_", "/")), (each) => each.charCodeAt(0));
    const { sub } = JSON.parse(new TextDecoder().decode(bytes));
    return typeof sub === "string" ? sub : null;
  } catch {
    return null;
  }
}
