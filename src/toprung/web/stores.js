/** What a browser remembers for us, if it is allowed to remember anything. */

/** For this tab only. */
export const tab = store(() => sessionStorage);
/** Until it is cleared. */
export const device = store(() => localStorage);

/** @param {() => Storage} open throws where the viewer forbade storage */
function store(open) {
  /** @type {Map<string, string>} */
  const fallback = new Map();
  return {
    /** @param {string} name @returns {string | null} */
    read(name) {
      try {
        return open().getItem(name);
      } catch {
        return fallback.get(name) ?? null;
      }
    },
    /** @param {string} name @param {string | null} text null forgets it */
    write(name, text) {
      if (text === null) fallback.delete(name);
      else fallback.set(name, text);
      try {
        if (text === null) open().removeItem(name);
        else open().setItem(name, text);
      } catch {
        // it is remembered as long as the page is open
      }
    },
  };
}
