/** Times and periods as people read them. */

const MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
/** @type {Object<string, string>} */
const NAMES = { "all-time": "All time", hourly: "Hourly", daily: "Daily", weekly: "Weekly", monthly: "Monthly", yearly: "Yearly" };

/** @param {string} window */
export function windowName(window) {
  return NAMES[window] ?? window;
}

/**
 * A period's id in words: "2026-11-15" as "15 November 2026".
 * @param {string} period
 */
export function periodName(period) {
  if (period === "all") return "all time";
  const found = /^(\d{4})(?:-W(\d{2})|-(\d{2})(?:-(\d{2})(?:T(\d{2})(\d{2})Z)?)?)?$/.exec(period);
  if (found === null) return period;
  const [, year, week, month, day, hour, minute] = found;
  if (week !== undefined) return `week ${Number(week)} of ${year}`;
  if (month === undefined) return year;
  const inMonth = `${MONTHS[Number(month) - 1]} ${year}`;
  if (day === undefined) return inMonth;
  const date = `${Number(day)} ${inMonth}`;
  return hour === undefined ? date : `${date}, ${hour}:${minute} UTC`;
}

/**
 * What a period belongs to: an hour to its day, a day to its month, a week and a month to their year.
 * @param {string} period
 */
export function periodGroup(period) {
  const found = /^(\d{4}-\d{2}-\d{2})T|^(\d{4}-\d{2})-\d{2}$|^(\d{4})-/.exec(period);
  return found === null ? "" : periodName(found[1] ?? found[2] ?? found[3]);
}

/**
 * Which period it is, in whose time, where that is not the viewer's own, and whether it is over. Nothing, if it
 * never ends.
 * @param {{period: string, closes_at: string | null, state: string}} period
 * @param {string} timezone the board's
 * @returns {string[]}
 */
export function periodWords({ period, closes_at, state }, timezone) {
  if (period === "all") return [];
  const zone = isForeign(timezone, closes_at) ? [`${timezone} time`] : [];
  return [periodName(period), ...zone, ...endWords(state)];
}

/** What is said of a period that is over. @type {Record<string, string>} */
const ENDS = { ended: "ended", closed: "under review", settled: "final" };

/**
 * Whether a period takes no more scores, and whether its places may still change. Nothing, if it is not over.
 * @param {string} state
 * @returns {string[]}
 */
export function endWords(state) {
  return state in ENDS ? [ENDS[state]] : [];
}

/**
 * Whether clocks of a zone show another time than the viewer's own.
 * @param {string} timezone
 * @param {string | null} time when, an RFC 3339 time; now, if nothing
 */
export function isForeign(timezone, time) {
  const moment = time === null ? new Date() : new Date(time);
  const clock = (/** @type {string | undefined} */ timeZone) => moment.toLocaleString("en-GB", { timeZone });
  return clock(timezone) !== clock(undefined);
}

/**
 * What is left until a moment, largest part first, at most three parts.
 * @param {number} milliseconds
 * @returns {{value: string, unit: string}[]}
 */
export function timeLeft(milliseconds) {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const days = Math.floor(seconds / 86400);
  const two = (/** @type {number} */ value) => String(value).padStart(2, "0");
  const clock = [
    { value: two(Math.floor(seconds / 3600) % 24), unit: "h" },
    { value: two(Math.floor(seconds / 60) % 60), unit: "min" },
    { value: two(seconds % 60), unit: "s" },
  ];
  return days === 0 ? clock : [{ value: String(days), unit: days === 1 ? "day" : "days" }, ...clock.slice(0, 2)];
}

const MOMENT = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const HOUR = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const MINUTE = new Intl.DateTimeFormat("en-GB", { weekday: "short", hour: "2-digit", minute: "2-digit" });
const DAYS_APART = 2 * 86_400_000;
const ROLL_OVER_MS = 1_500;

/** @param {string} time an RFC 3339 time */
export function formatMoment(time) {
  return MOMENT.format(new Date(time));
}

/**
 * Since when, in words: since a day, or since an hour of today if snapshots are taken every hour.
 * @param {string} time an RFC 3339 time
 * @param {string | undefined} every how often
 * @param {number} now in milliseconds
 */
export function sinceWords(time, every, now) {
  const [day, today] = [new Date(time), new Date(now)].map((each) => DAY.format(each));
  if (every !== "hour") return `since ${day}`;
  return day === today ? `since ${HOUR.format(new Date(time))}` : `since ${day}, ${HOUR.format(new Date(time))}`;
}

/**
 * How to write times between two moments: as days, or finer if they are close.
 * @param {number} first in milliseconds
 * @param {number} last
 * @returns {(milliseconds: number) => string}
 */
export function timeFormat(first, last) {
  const format = last - first < DAYS_APART ? MINUTE : DAY;
  return (milliseconds) => format.format(new Date(milliseconds));
}

/**
 * How long ago something was, roughly.
 * @param {string} time an RFC 3339 time
 * @param {number} now in milliseconds
 */
export function ago(time, now) {
  const seconds = Math.max(0, (now - Date.parse(time)) / 1000);
  if (seconds < 45) return "just now";
  if (seconds < 5400) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 129600) return `${Math.round(seconds / 3600)} h ago`;
  return formatMoment(time).replace(/,.*/, "");
}

/**
 * Do something when a period has ended: a little later, and not on all pages at the same moment.
 * @param {() => void} action
 * @param {number} [patience] how many times as late
 */
export function afterRollOver(action, patience = 1) {
  setTimeout(action, ROLL_OVER_MS * patience * (0.5 + Math.random()));
}

/**
 * A function that runs at most once per interval: at once if it can, later if it must.
 * @param {() => void} action
 * @param {number} interval in milliseconds
 */
export function throttled(action, interval) {
  let next = 0;
  /** @type {number | undefined} */
  let timer;
  const run = () => {
    timer = undefined;
    next = performance.now() + interval;
    action();
  };
  const call = () => {
    if (timer === undefined) timer = setTimeout(run, Math.max(0, next - performance.now()));
  };
  call.cancel = () => {
    clearTimeout(timer);
    timer = undefined; // or it would never be called again
  };
  return call;
}
