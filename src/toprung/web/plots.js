/** Plots, drawn as SVG: how scores spread, and how one player's scores went. */

import { el, svg } from "./dom.js";
import { formatCount, groupDigits, shortNumber } from "./numbers.js";
import { timeFormat } from "./times.js";

/** @typedef {import("./api.js").Distribution} Distribution */
/** @typedef {import("./api.js").Submission} Submission */

const WIDTH = 400;
const HEIGHT = 140;
const TOP = 22;
const BELOW = 8;
const LEFT = 8;
const RIGHT = 8;

/**
 * How many players have which score, with one of them marked.
 * @param {Distribution} spread
 * @param {string} [marked] the marked one's score
 */
export function distributionPlot({ buckets, total }, marked) {
  const most = Math.max(...buckets.map((bucket) => bucket.count));
  const step = WIDTH / buckets.length;
  const at = marked === undefined ? -1 : bucketOf(buckets, marked);
  const bars = buckets.map(({ from, to, count }, index) => {
    const height = count === 0 ? 0 : Math.max(2, (count / most) * (HEIGHT - TOP));
    const place = { x: index * step + 0.75, y: HEIGHT - height, width: Math.max(1, step - 1.5), height, rx: 1.5 };
    return svg("rect", { ...place, class: index === at ? "bar marked" : "bar" }, svg("title", {}, `${groupDigits(from)} to ${groupDigits(to)}: ${formatCount(count)}`));
  });
  const lowest = groupDigits(buckets[0].from);
  const highest = groupDigits(buckets[buckets.length - 1].to);
  const label = `Scores of ${formatCount(total)} players from ${lowest} to ${highest}`;
  return el(
    "figure",
    { class: "plot" },
    svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label }, ...bars, at >= 0 && marker((at + 0.5) * step)),
    el("div", { class: "axis", "aria-hidden": "true" }, el("span", {}, lowest), el("span", {}, highest)),
  );
}

/** @param {number} x */
function marker(x) {
  return svg("path", { class: "marker", d: `M${x} ${TOP - 4}l-6 -10h12z` });
}

/** @param {Distribution["buckets"]} buckets @param {string} score */
function bucketOf(buckets, score) {
  const found = buckets.findIndex(({ to }) => compareScores(score, to) <= 0);
  return found < 0 ? buckets.length - 1 : found;
}

/**
 * Exact order of two scores of one board, which have equally many decimals.
 * @param {string} one
 * @param {string} other
 */
export function compareScores(one, other) {
  const [a, b] = [one, other].map(unitsOf);
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A score in units of its last decimal. @param {string} score */
const unitsOf = (score) => BigInt(score.replace(".", ""));

/**
 * A player's result over a stretch of time, as the board counts it: the best so far, the newest, or the
 * sum. Every submission is a dot.
 * @param {Submission[]} submissions in any order
 * @param {{order: "asc" | "desc", policy: string}} rules
 * @param {{from: number, to: number, end?: string}} time in milliseconds; `end` is the sum that it leads
 *   to, where earlier submissions are not among these
 */
export function historyPlot(submissions, rules, { from, to, end }) {
  const points = counted(submissions, rules, end);
  const values = points.flatMap(({ value, result }) => (rules.policy === "sum" ? [result] : [value, result]));
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const format = timeFormat(from, to);
  const x = (/** @type {number} */ time) => LEFT + (Math.min(Math.max(time, from), to) - from) / Math.max(1, to - from) * (WIDTH - LEFT - RIGHT);
  const y = (/** @type {number} */ value) => (high === low ? HEIGHT / 2 : HEIGHT - BELOW - ((value - low) / (high - low)) * (HEIGHT - BELOW - TOP));
  let line = `M${x(points[0].at)} ${y(points[0].result)}`;
  for (const { at, result } of points) line += `H${x(at)}V${y(result)}`;
  line += `H${x(to)}`;
  const dots = points.map(({ at, value, result, score }) =>
    svg("circle", { cx: x(at), cy: y(rules.policy === "sum" ? result : value), r: 3, class: value === result ? "dot best" : "dot" }, svg("title", {}, `${groupDigits(score)} · ${format(at)}`)),
  );
  const label = `${points.length} scores between ${format(from)} and ${format(to)}`;
  const ticks = high === low ? [high] : [low, high];
  const middle = (from + to) / 2;
  return el(
    "figure",
    { class: "plot history" },
    el("div", { class: "scale", "aria-hidden": "true" }, ...ticks.reverse().map((tick) => el("span", {}, shortNumber(tick)))),
    svg(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label },
      ...ticks.map((tick) => svg("path", { class: "grid", d: `M0 ${y(tick)}H${WIDTH}` })),
      svg("path", { class: "line", d: line }),
      ...dots,
    ),
    el("div", { class: "axis", "aria-hidden": "true" }, ...[from, middle, to].map((time) => el("span", {}, format(time)))),
  );
}

/**
 * The submissions in the order of time, each with the result that it led to.
 * @param {Submission[]} submissions
 * @param {{order: "asc" | "desc", policy: string}} rules
 * @param {string} [end] what they lead to, if they are added to what was there before
 */
function counted(submissions, { order, policy }, end) {
  const points = submissions.map(({ at, score }) => ({ at: Date.parse(at), score, value: Number(score), result: 0 }));
  points.sort((a, b) => a.at - b.at);
  let best = points[0].score;
  const unit = 10 ** (best.split(".")[1] ?? "").length;
  let sum = end === undefined ? 0n : points.reduce((before, { score }) => before - unitsOf(score), unitsOf(end));
  for (const point of points) {
    sum += unitsOf(point.score);
    const comparison = compareScores(point.score, best);
    if (policy !== "best" || (order === "desc" ? comparison > 0 : comparison < 0)) best = point.score;
    point.result = policy === "sum" ? Number(sum) / unit : Number(best);
  }
  return points;
}
