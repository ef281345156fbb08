/** Plots, drawn as SVG: how scores spread, and how one player's scores went. */

import { el, svg } from "./dom.js";
import { formatCount, groupDigits } from "./numbers.js";
import { timeFormat } from "./times.js";

/** @typedef {import("./api.js").Distribution} Distribution */
/** @typedef {import("./api.js").Submission} Submission */

const WIDTH = 400;
const HEIGHT = 140;
const TOP = 22;

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
  const [a, b] = [one, other].map((text) => BigInt(text.replace(".", "")));
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Scores over time, and what counted: the best so far, or each where boards do not keep the best.
 * @param {Submission[]} submissions
 * @param {{order: "asc" | "desc", policy: string}} rules
 */
export function historyPlot(submissions, { order, policy }) {
  const points = submissions.map(({ at, score }) => ({ at: Date.parse(at), value: Number(score), score }));
  points.sort((a, b) => a.at - b.at);
  const [first, last] = [points[0], points[points.length - 1]];
  const format = timeFormat(first.at, last.at);
  const values = points.map((point) => point.value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const x = (/** @type {number} */ time) => (last.at === first.at ? WIDTH / 2 : 8 + ((time - first.at) / (last.at - first.at)) * (WIDTH - 16));
  const y = (/** @type {number} */ value) => (high === low ? HEIGHT / 2 : HEIGHT - 8 - ((value - low) / (high - low)) * (HEIGHT - 16));
  let counted = first.value;
  let line = `M${x(first.at)} ${y(counted)}`;
  for (const { at, value } of points) {
    line += `H${x(at)}`;
    const isBetter = order === "desc" ? value > counted : value < counted;
    if (policy !== "best" || isBetter) line += `V${y((counted = value))}`;
  }
  const dots = points.map((point) =>
    svg("circle", { cx: x(point.at), cy: y(point.value), r: 3, class: point.value === counted ? "dot best" : "dot" }, svg("title", {}, `${groupDigits(point.score)} · ${format(point.at)}`)),
  );
  const label = `${points.length} scores between ${format(first.at)} and ${format(last.at)}`;
  return el(
    "figure",
    { class: "plot" },
    svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label }, svg("path", { class: "line", d: line }), ...dots),
    el("div", { class: "axis", "aria-hidden": "true" }, el("span", {}, format(first.at)), el("span", {}, format(last.at))),
  );
}
