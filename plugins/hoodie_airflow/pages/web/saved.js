// Gains of services by day: bytes that cleans freed, bytes of logs that were merged. Costs by service.

import { bars } from "./wrote.js";
import { h, scrolling } from "./dom.js";
import { count, counted, size, span } from "./words.js";

/** The nodes: a sentence, the bars, and sums by service. `gains` have day, service and sums. */
export function saved(gains) {
  if (!gains.length) return null;
  const days = everyDay(gains);
  return [
    h("p", {}, `${days.length === 1 ? `On ${days[0].day}` : `In the last ${counted(days.length, "day")}`} services freed ${size(sum(gains, "bytes_freed"))} and merged ${size(sum(gains, "log_bytes_merged"))} of logs. A bar is a day in UTC.`),
    days.some((day) => day.bytes_freed || day.log_bytes_merged) && bars(days, [["completed", "freed by cleans", (day) => day.bytes_freed], ["rewritten", "logs merged", (day) => day.log_bytes_merged]],
      (day) => day.day, (day) => `${day.day}: ${counted(day.runs, "run")}, freed ${size(day.bytes_freed)}, merged ${size(day.log_bytes_merged)} of logs`, "Bytes that services gained by day, by service below"),
    byService(gains),
  ];
}

const sum = (rows, key) => rows.reduce((total, row) => total + (row[key] ?? 0), 0);

/** Also the days without a run. */
function everyDay(gains) {
  const found = new Map();
  const [first, last] = [Date.parse(gains[0].day), Date.parse(gains[gains.length - 1].day)];
  for (let at = first; at <= last; at += 86400_000) found.set(new Date(at).toISOString().slice(0, 10), []);
  for (const gain of gains) found.get(gain.day)?.push(gain);
  return [...found].map(([day, rows]) => ({ day, runs: sum(rows, "runs"), bytes_freed: sum(rows, "bytes_freed"), log_bytes_merged: sum(rows, "log_bytes_merged") }));
}

function byService(gains) {
  const names = [...new Set(gains.map((gain) => gain.service))].sort();
  const titles = ["service", "runs", "failed", "time", "processors", "written", "freed", "logs merged", "files"];
  return scrolling("cost and gain by service", h("table", {}, h("caption", { class: "hidden" }, "cost and gain by service"),
    h("thead", {}, h("tr", {}, titles.map((title, at) => h("th", { scope: "col", class: at ? "right" : null }, title)))),
    h("tbody", {}, names.map((name) => {
      const rows = gains.filter((gain) => gain.service === name);
      const before = sum(rows, "files_before");
      const cells = [count(sum(rows, "runs")), count(sum(rows, "failed")), span(sum(rows, "seconds")), span(sum(rows, "cpu_seconds")),
        size(sum(rows, "bytes_written")), size(sum(rows, "bytes_freed")), size(sum(rows, "log_bytes_merged")),
        before ? `${count(before)} → ${count(sum(rows, "files_after"))}` : ""];
      return h("tr", {}, h("th", { scope: "row" }, name), cells.map((text) => h("td", { class: "right" }, text)));
    }))));
}

/** One line of all tables. */
export function gained(found) {
  if (!found) return null;
  const failed = found.failed ? `, ${count(found.failed)} of them failed` : "";
  return h("p", { class: "quiet" }, `In the last ${found.days} days ${counted(found.runs, "run")} of services${failed}: ${size(found.bytes_freed)} freed, `
    + `${size(found.log_bytes_merged)} of logs merged, ${span(found.cpu_seconds)} of processor time`);
}
