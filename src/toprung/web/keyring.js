/** The viewer's access key: kept for this tab, gone when it is closed. */

const NAME = "toprung.key";

/** @returns {string | null} */
export function currentKey() {
  return sessionStorage.getItem(NAME);
}

/** @param {string | null} key null forgets it */
export function keepKey(key) {
  if (key === null) sessionStorage.removeItem(NAME);
  else sessionStorage.setItem(NAME, key);
}
