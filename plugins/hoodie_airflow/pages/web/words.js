// Amounts as people read them.

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
const NUMBER = new Intl.NumberFormat("en");

export const count = (value) => (value === null || value === undefined ? "" : NUMBER.format(value));

/** "1 table", "2 tables" */
export const counted = (value, noun) => `${count(value)} ${noun}${value === 1 ? "" : "s"}`;

export function size(bytes) {
  if (bytes === null || bytes === undefined) return "";
  let amount = bytes;
  let unit = 0;
  while (amount >= 1024 && unit < UNITS.length - 1) {
    amount /= 1024;
    unit += 1;
  }
  return `${unit === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${UNITS[unit]}`;
}
