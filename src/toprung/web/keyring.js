/** The viewer's access key: kept for this tab, gone when it is closed. */

import { tab } from "./stores.js";

const NAME = "toprung.key";

export const currentKey = () => tab.read(NAME);

/** @param {string | null} key null forgets it */
export const keepKey = (key) => tab.write(NAME, key);
