/** Numbers as people read them. Scores are texts of any length and stay exact. */

/**
 * The digits of a score in groups of three: "-9007199254740993.50" as "-9,007,199,254,740,993.50".
 * @param {string} score
 */
export function groupDigits(score) {
  const [whole, fraction] = score.split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",").replace("-", "\u2212");
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** Whether a score is too long for the room that scores have: with up to 19 digits some are. @param {string} score */
export function isLong(score) {
  return score.length > 12;
}

/** @param {number} count */
export function formatCount(count) {
  return groupDigits(String(count));
}

/**
 * A share in percent with one decimal, or with as many as it takes not to be none at all.
 * @param {number} percent
 * @param {(number: number) => number} round
 */
function formatPercent(percent, round) {
  const [digits, power = "0"] = String(percent).split("e");
  const decimals = percent > 0 && percent < 0.1 ? Math.ceil(-Math.log10(percent)) : 1;
  // By its digits, not by a product: 1.1 * 10 may be more than 11, and that would be rounded up.
  const rounded = round(Number(`${digits}e${Number(power) + decimals}`));
  return Number(`${rounded}e-${decimals}`).toFixed(decimals).replace(/\.0+$/, "");
}

/**
 * How many players of a hundred are beaten; never more than are.
 * @param {number} percentile
 */
export function formatPercentile(percentile) {
  return formatPercent(percentile, Math.floor);
}

/**
 * Of the best how many percent a player is; never of fewer than it is.
 * @param {number} percent
 */
export function formatTopPercent(percent) {
  return formatPercent(percent, Math.ceil);
}

/**
 * How good a standing is, in words.
 * @param {{percentile: number, rank: number, total: number}} standing
 */
export function percentileWords({ percentile, rank, total }) {
  if (total === 1) return "the only player so far";
  const players = `${formatCount(total)} players`;
  if (percentile === 0) return `number ${formatCount(rank)} of ${players}`;
  return `better than ${formatPercentile(percentile)} % of ${players}`;
}

const SHORT = new Intl.NumberFormat("en-GB", { notation: "compact", maximumSignificantDigits: 4 });

/** A number for an axis, where little room is: 1,234,567 as 1.235m. @param {number} value */
export function shortNumber(value) {
  return SHORT.format(value);
}

const SHORTER = new Intl.NumberFormat("en-GB", { notation: "compact", maximumSignificantDigits: 2 });

/** A count where there is hardly any room: as it is, or as 12k. @param {number} count */
export function shortCount(count) {
  return count < 1_000 ? String(count) : SHORTER.format(count);
}

/** @param {number} count @param {string} noun */
export function plural(count, noun) {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/**
 * How a score compares with the best one, from 0 to 1: where to draw, not what to say.
 * @param {string} score
 * @param {string} best
 */
export function shareOf(score, best) {
  const [value, top] = [Number(score), Number(best)];
  if (!(value > 0 && top > 0)) return 0;
  return Math.min(value, top) / Math.max(value, top);
}
