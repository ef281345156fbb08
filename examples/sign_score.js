// Sign a score for Toprung, in a browser or in Node, with nothing but WebCrypto.
//
//   import { signScore } from "./sign_score.js";
//
//   const run = ...;  // the answer of POST /v1/boards/blitz/runs {"player": "alice"}
//   const score = { player: "alice", score: "12.50", details: { car: 7 } };
//   score.run = run.run;
//   score.signature = await signScore(run, "blitz", score, 2);
//   ...  // POST /v1/boards/blitz/scores with this score
//
// `score` is the body of the submission as it will be sent; the last argument is the board's
// decimals. Send scores as text where they have more digits than a double. This raises the cost of
// cheating and proves nothing: whoever controls this program controls what it signs.

const utf8 = new TextEncoder();

/** The signature of a submission, in hexadecimal digits. */
export async function signScore(run, board, score, decimals = 0) {
  const bytes = Uint8Array.from(run.key.match(/../g), (pair) => parseInt(pair, 16));
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", bytes, algorithm, false, ["sign"]);
  return hex(await crypto.subtle.sign("HMAC", key, await scoreMessage(run.run, board, score, decimals)));
}

/** What is signed: each field with its length in bytes before it. */
export async function scoreMessage(run, board, score, decimals = 0) {
  const { player, subscore = null, at = null, details } = score;
  const fields = [
    "toprung-score-1",
    board,
    player,
    scaled(score.score, decimals),
    subscore === null ? "" : scaled(subscore, 0),
    at === null ? "" : microseconds(at),
    details === undefined ? "" : await sha256(canonical(details)),
    run,
  ].map((field) => utf8.encode(field));
  const parts = fields.flatMap((field) => [utf8.encode(`${field.length}:`), field]);
  const message = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    message.set(part, offset);
    offset += part.length;
  }
  return message;
}

/** A score as the board stores it: 12.5 with two decimals is 1250. */
export function scaled(number, decimals) {
  const found = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d{1,3}))?$/.exec(String(number));
  if (!found) throw new RangeError(`${number} is no score`);
  const [, sign, whole, fraction = "", exponent = "0"] = found;
  const shift = decimals + Number(exponent) - fraction.length;
  let digits = whole + fraction;
  if (shift >= 0) digits += "0".repeat(shift);
  else {
    const cut = digits.slice(shift);
    if (/[^0]/.test(cut)) throw new RangeError(`${number} has more than ${decimals} decimals`);
    digits = digits.slice(0, shift);
  }
  const value = BigInt(digits || "0");
  return String(sign && value ? -value : value);
}

/** An RFC 3339 time in microseconds since 1970. */
export function microseconds(at) {
  const found = /^(.{19})(?:\.(\d{1,6}))?(Z|[-+]\d\d:\d\d)$/i.exec(at);
  if (!found) throw new RangeError(`${at} is no RFC 3339 time`);
  const seconds = Date.parse(`${found[1]}${found[3]}`.toUpperCase()) / 1000;
  return String(BigInt(seconds) * 1000000n + BigInt((found[2] ?? "").padEnd(6, "0")));
}

/** JSON in its canonical form (RFC 8785): JavaScript writes numbers and sorts names as it says. */
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") {
    if (typeof value === "number" && !Number.isFinite(value)) throw new RangeError(`JSON has no ${value}`);
    return JSON.stringify(value);
  }
  const members = Object.keys(value).sort();
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(",")}}`;
}

async function sha256(text) {
  return hex(await crypto.subtle.digest("SHA-256", utf8.encode(text)));
}

function hex(buffer) {
  return Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
