/**
 * Requests as code that can be pasted and run: curl, Python and JavaScript.
 *
 * What people typed into the fields ends up in the code, so every value is written as one literal of
 * its language. Characters that cannot be seen, or that reorder what is seen, are written as escapes.
 * The key is left out on purpose: code is shown to others. It is taken from TOPRUNG_KEY, as the
 * `toprung` command does, or from a variable.
 *
 * @typedef {{method: string, url: string, headers: [string, string][], body: string | null}} Request
 */

const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]|[^\S ]/gu;
const HIDDEN = /^bearer /i;

/** @param {Request} request */
export function curl({ method, url, headers, body }) {
  const words = [`curl -X ${inBash(method)} ${inBash(url)}`];
  if (/[[\]{}]/.test(url)) words[0] += " --globoff"; // they would stand for several addresses
  for (const [name, value] of headers) {
    words.push(
      isKey(name, value)
        ? `-H "${name}: Bearer $TOPRUNG_KEY"`
        : `-H ${inBash(value === "" ? `${name};` : `${name}: ${value}`)}`,
    );
  }
  if (body !== null) words.push(`--data-raw ${inBash(compact(body))}`); // -d @file sends a file
  return words.join(" \\\n  ");
}

/** @param {Request} request */
export function python({ method, url, headers, body }) {
  const hides = headers.some(([name, value]) => isKey(name, value));
  const members = headers.map(([name, value]) => {
    const text = isKey(name, value) ? `"Bearer " + os.environ["TOPRUNG_KEY"]` : inPython(value);
    return `        ${inPython(name)}: ${text},`;
  });
  const data = body === null ? [] : [`    data=${inPython(compact(body))}.encode(),`];
  return [
    ...(hides ? ["import os"] : []),
    "from urllib.request import Request, urlopen",
    "",
    "request = Request(",
    `    ${inPython(url)},`,
    `    method=${inPython(method)},`,
    ...(members.length ? ["    headers={", ...members, "    },"] : []),
    ...data,
    ")",
    "with urlopen(request) as response:",
    "    print(response.status, response.read().decode())",
  ].join("\n");
}

/** @param {Request} request */
export function javascript({ method, url, headers, body }) {
  const hides = headers.some(([name, value]) => isKey(name, value));
  const members = headers.map(([name, value]) => {
    const text = isKey(name, value) ? "`Bearer ${key}`" : inJavaScript(value);
    return `    ${inJavaScript(name)}: ${text},`;
  });
  return [
    ...(hides ? ["const key = 'your key';"] : []),
    `const response = await fetch(${inJavaScript(url)}, {`,
    `  method: ${inJavaScript(method)},`,
    ...(members.length ? ["  headers: {", ...members, "  },"] : []),
    ...(body === null ? [] : [`  body: ${inJavaScript(compact(body))},`]),
    "});",
    "console.log(response.status, await response.text());",
  ].join("\n");
}

/**
 * JSON without the spaces between its parts, digit for digit; other text as it is.
 * @param {string} text
 */
export function compact(text) {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  return text.replace(/("(?:\\.|[^"\\])*")|\s+/g, (_, literal) => literal ?? "");
}

/** @param {string} text */
export function inBash(text) {
  if (/^[A-Z]+$/.test(text)) return text;
  if (text.search(INVISIBLE) < 0) return `'${text.replaceAll("'", `'\\''`)}'`;
  const plain = text.replace(/[\\']/g, "\\$&");
  return `$'${plain.replace(INVISIBLE, bytesInBash)}'`;
}

/** @param {string} text */
export function inPython(text) {
  return literal(text, (code) =>
    code > 0xffff ? `\\U${hex(code, 8)}` : code > 0xff ? `\\u${hex(code, 4)}` : `\\x${hex(code, 2)}`,
  );
}

/** @param {string} text */
export function inJavaScript(text) {
  return literal(text, (code) => (code > 0xff ? `\\u{${hex(code, 1)}}` : `\\x${hex(code, 2)}`));
}

/**
 * @param {string} text
 * @param {(code: number) => string} escape
 */
function literal(text, escape) {
  const plain = text.toWellFormed().replace(/[\\']/g, "\\$&").replaceAll("\n", "\\n");
  return `'${plain.replace(INVISIBLE, (character) => escape(character.codePointAt(0) ?? 0))}'`;
}

/** @param {string} character */
function bytesInBash(character) {
  if (character === "\n") return "\\n";
  return [...new TextEncoder().encode(character)].map((byte) => `\\x${hex(byte, 2)}`).join("");
}

/**
 * @param {number} number
 * @param {number} digits
 */
function hex(number, digits) {
  return number.toString(16).padStart(digits, "0");
}

/**
 * @param {string} name
 * @param {string} value
 */
function isKey(name, value) {
  return name.toLowerCase() === "authorization" && HIDDEN.test(value);
}
