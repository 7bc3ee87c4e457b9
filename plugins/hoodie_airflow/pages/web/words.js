// Amounts as people read them.

import { h } from "./dom.js";

const UNITS = ["KiB", "MiB", "GiB", "TiB", "PiB"];
const NUMBER = new Intl.NumberFormat("en");

export const count = (value) => (value === null || value === undefined ? "" : NUMBER.format(value));

/** "1 table", "2 tables" */
export const counted = (value, noun) => `${count(value)} ${noun}${value === 1 ? "" : "s"}`;

/** `43.1 MiB`, as `size_of` of the library writes it. */
export function size(bytes) {
  if (bytes === null || bytes === undefined) return "";
  if (bytes < 1024) return counted(Math.round(bytes), "byte");
  let amount = bytes / 1024;
  let unit = 0;
  while (amount >= 1024 && unit < UNITS.length - 1) {
    amount /= 1024;
    unit += 1;
  }
  return `${amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${UNITS[unit]}`;
}

const SPANS = [[86400 * 365, "y"], [86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];

/** Seconds as one amount: "3 h". */
export function span(seconds) {
  if (seconds === null || seconds === undefined) return "";
  const [length, unit] = SPANS.find(([length]) => seconds >= length) ?? [1, "s"];
  return `${Math.floor(Math.max(seconds, 0) / length)} ${unit}`;
}

/** A time in UTC, to the second. */
export const moment = (iso) => (iso ? `${new Date(iso).toISOString().slice(0, 19).replace("T", " ")} UTC` : "");

/** Seconds between two times in ISO. */
export const between = (then, now) => (Date.parse(now) - Date.parse(then)) / 1000;

/** "3 h ago", or "in 3 h", with the moment itself. */
export function ago(iso, now) {
  if (!iso) return "";
  const seconds = between(iso, now);
  return h("time", { datetime: iso, title: moment(iso) }, seconds < 0 ? `in ${span(-seconds)}` : `${span(seconds)} ago`);
}

/** The value or limit of an objective. */
export function amount(value, unit) {
  if (value === null) return "nothing yet";
  if (unit === "seconds") return span(value);
  if (unit === "of all") return `${Math.round(value * 100)} % of all`;
  return unit === "bytes per byte" ? value.toPrecision(3) : count(Math.round(value));
}
