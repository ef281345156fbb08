/** Plots of ranks over time, drawn as SVG: of one player, and of several who race. Better is up. */

import { el, name, svg } from "./dom.js";
import { formatCount } from "./numbers.js";
import { timeFormat } from "./times.js";

/** @typedef {import("./api.js").HistoryPoint} HistoryPoint */
/** @typedef {{player: string, label: string, link: string, points: HistoryPoint[]}} Runner points newest first */

const WIDTH = 400;
const HEIGHT = 140;
const RACE_HEIGHT = 260;
const MARGIN = 10;
/** Below this rank a race is drawn by ratios, so that a climb from far down leaves room for those ahead. */
const LINEAR_MAX = 20;
/** With more snapshots than these, dots would be a band. */
const DOTS_MAX = 40;

/**
 * How one player's rank went.
 * @param {HistoryPoint[]} points newest first, at least one
 */
export function rankPlot(points) {
  const { from, to, best, worst, format, x, y } = scalesOf(points, WIDTH, HEIGHT, false);
  const past = [...points].reverse();
  const dots = past.map((point) =>
    svg("circle", { cx: x(point), cy: y(point), r: 3, class: point.rank === best ? "dot best" : "dot" }, svg("title", {}, `#${formatCount(point.rank)} of ${formatCount(point.total)} · ${format(Date.parse(point.at))}`)),
  );
  return plot({ from, to, best, worst, format }, `Rank over time: ${rankWords(points, format)}`, [WIDTH, HEIGHT], [
    svg("path", { class: "line", d: pathOf([past], x, y) }),
    ...dots,
  ]);
}

/**
 * How the ranks of several players went, each in a colour with a name beside.
 * @param {Runner[]} runners best first; those without points have a name only
 * @param {number} width
 */
export function racePlot(runners, width) {
  const all = runners.flatMap(({ points }) => points);
  const { from, to, best, worst, format, x, y } = scalesOf(all, width, RACE_HEIGHT, true);
  const snapshots = [...new Set(all.map(({ snapshot }) => snapshot))].sort();
  const lines = runners.map(({ label, points }, index) => {
    const past = [...points].reverse();
    const dotted = snapshots.length > DOTS_MAX ? past.slice(-1) : past;
    return svg(
      "g",
      { class: "runner", "data-runner": index },
      svg("title", {}, label),
      svg("path", { class: "line", d: pathOf(unbroken(past, snapshots), x, y) }),
      ...dotted.map((point) => svg("circle", { class: "point", cx: x(point), cy: y(point), r: 3.5 })),
    );
  });
  const words = `Ranks of ${runners.length} players between ${format(from)} and ${format(to)}`;
  const figure = plot({ from, to, best, worst, format }, words, [width, RACE_HEIGHT], lines.toReversed());
  const mark = (/** @type {number | null} */ chosen) => () => {
    lines.forEach((line, index) => line.classList.toggle("faint", chosen !== null && index !== chosen));
  };
  const legend = runners.map(({ label, link, points }, index) => {
    const on = { pointerenter: mark(index), pointerleave: mark(null), focusin: mark(index), focusout: mark(null) };
    return el(
      "li",
      { "data-runner": index, on },
      svg("svg", { class: "swatch", viewBox: "0 0 28 10", "aria-hidden": "true" }, svg("path", { class: "line", d: "M0 5H28" })),
      el("a", { href: link }, name(label)),
      el("span", { class: "small" }, points.length === 0 ? "no snapshot yet" : rankWords(points)),
    );
  });
  figure.classList.add("race-plot");
  return el("div", { class: "race-plots" }, figure, el("ol", { class: "legend" }, ...legend));
}

/**
 * Where ranks went, in words: first, best and last.
 * @param {HistoryPoint[]} points newest first
 * @param {(milliseconds: number) => string} [format] how to say when
 */
function rankWords(points, format) {
  const [last, first] = [points[0], points[points.length - 1]];
  const best = points.reduce((found, point) => (point.rank <= found.rank ? point : found));
  const say = (/** @type {HistoryPoint} */ { rank, at }) => `#${formatCount(rank)}${format ? ` on ${format(Date.parse(at))}` : ""}`;
  return points.length === 1 ? say(last) : `first ${say(first)}, best ${say(best)}, last ${say(last)}`;
}

/**
 * @param {HistoryPoint[]} points
 * @param {number} width
 * @param {number} height
 * @param {boolean} isRace
 */
function scalesOf(points, width, height, isRace) {
  const times = points.map(({ at }) => Date.parse(at));
  const ranks = points.map(({ rank }) => rank);
  const [from, to] = [Math.min(...times), Math.max(...times)];
  const [best, worst] = [Math.min(...ranks), Math.max(...ranks)];
  const scale = isRace && worst > LINEAR_MAX ? Math.log : (/** @type {number} */ rank) => rank;
  const share = (/** @type {number} */ rank) => (worst === best ? 0.5 : (scale(rank) - scale(best)) / (scale(worst) - scale(best)));
  const round = (/** @type {number} */ value) => Math.round(value * 10) / 10;
  return {
    ...{ from, to, best, worst, format: timeFormat(from, to) },
    x: (/** @type {HistoryPoint} */ { at }) => round(to === from ? width / 2 : MARGIN + ((Date.parse(at) - from) / (to - from)) * (width - 2 * MARGIN)),
    y: (/** @type {HistoryPoint} */ { rank }) => round(MARGIN + share(rank) * (height - 2 * MARGIN)),
  };
}

/**
 * Stretches without a gap: a snapshot that does not have the player interrupts the line.
 * @param {HistoryPoint[]} past oldest first
 * @param {string[]} snapshots all there are, in order
 */
function unbroken(past, snapshots) {
  const places = new Map(snapshots.map((snapshot, index) => [snapshot, index]));
  /** @type {HistoryPoint[][]} */
  const stretches = [];
  let expected = -1;
  for (const point of past) {
    const place = /** @type {number} */ (places.get(point.snapshot));
    if (place !== expected) stretches.push([]);
    stretches[stretches.length - 1].push(point);
    expected = place + 1;
  }
  return stretches;
}

/**
 * @param {HistoryPoint[][]} stretches
 * @param {(point: HistoryPoint) => number} x
 * @param {(point: HistoryPoint) => number} y
 */
function pathOf(stretches, x, y) {
  return stretches.map((stretch) => `M${stretch.map((point) => `${x(point)} ${y(point)}`).join("L")}`).join("");
}

/**
 * A figure with the ends of its axes labelled.
 * @param {{from: number, to: number, best: number, worst: number, format: (milliseconds: number) => string}} scales
 * @param {string} label
 * @param {[width: number, height: number]} size
 * @param {SVGElement[]} drawn
 */
function plot({ from, to, best, worst, format }, label, [width, height], drawn) {
  const ranks = best === worst ? [best] : [best, worst];
  const times = from === to ? [from] : [from, to];
  const edges = best === worst ? [height / 2] : [MARGIN, height - MARGIN];
  return el(
    "figure",
    { class: "plot history ranks" },
    el("div", { class: "scale", "aria-hidden": "true" }, ...ranks.map((rank) => el("span", {}, `#${formatCount(rank)}`))),
    svg(
      "svg",
      { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
      ...edges.map((edge) => svg("path", { class: "grid", d: `M0 ${edge}H${width}` })),
      ...drawn,
    ),
    el("div", { class: "axis", "aria-hidden": "true" }, ...times.map((time) => el("span", {}, format(time)))),
  );
}
