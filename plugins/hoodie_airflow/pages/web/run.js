// What a run of a DAG did, task by task.

import { h } from "./dom.js";
import { compared, listing } from "./listing.js";
import { count, moment, size, span } from "./words.js";

const OUTCOMES = { done: ["●", "done", "good"], asks: ["◆", "asks to be approved", "warn"], failed: ["✕", "failed", "bad"],
  paused: ["○", "skipped: the table is paused", "warn"], explained: ["○", "explained, nothing was changed", "soft"], nothing: ["○", "", "soft"] };
const SHOWN = { count, bytes: size, seconds: (value) => `${value.toFixed(1)} s` };

/** The nodes of the page. */
export async function run(ask, [, dag, name]) {
  const found = await ask(`api/runs/${dag}/${name}`);
  return [
    h("nav", { "aria-label": "path" }, h("a", { href: `#/dag/${encodeURIComponent(found.dag)}` }, "the table of this DAG")),
    h("h1", {}, found.run),
    ...found.tasks.map((task) => one(task)),
  ];
}

function one(task) {
  const [mark, words, colour] = OUTCOMES[task.outcome];
  const took = task.began && task.ended ? `took ${span((Date.parse(task.ended) - Date.parse(task.began)) / 1000)}` : null;
  const facts = [task.state, moment(task.began), took, task.tries > 1 ? `try ${task.tries}` : null, words].filter(Boolean).join(" · ");
  return h("section", { "aria-label": task.task },
    h("h2", {}, h("span", { class: colour, "aria-hidden": "true" }, `${mark} `), task.task),
    h("p", { class: "quiet" }, facts),
    task.progress.map(progressed),
    task.message ? h("p", { class: "told" }, task.message) : null,
    task.instant ? h("p", {}, "instant ", h("code", {}, task.instant)) : null,
    h("dl", { class: "facts" }, task.amounts.map((amount) =>
      h("div", {}, h("dt", {}, amount.name), h("dd", {}, SHOWN[amount.unit](amount.value))))),
    task.lines.length ? h("ul", {}, task.lines.map((line) => h("li", {}, line))) : null,
    task.files.length ? plan(task) : null);
}

/** A bar where it is known how much there is. */
function progressed(part) {
  const shown = SHOWN[part.unit];
  const words = part.whole === null ? part.step : `${part.step}: ${shown(part.done)} of ${shown(part.whole)}${part.unit === "bytes" ? "" : ` ${part.noun}`}`;
  return h("p", {}, h("label", { class: "progressed" }, h("progress", { max: part.whole, value: part.whole === null ? null : part.done }), ` ${words}, for ${span(part.seconds)}`));
}

function plan(task) {
  return [
    listing({
      rows: task.files,
      noun: "file",
      columns: [
        { key: "path", title: "File", by: (row) => row.path, cell: (row) => h("th", { scope: "row", class: "path" }, row.path) },
        { key: "bytes", title: "Size", down: true, right: true, by: (row) => row.bytes, cell: (row) => h("td", { class: "right" }, size(row.bytes)) },
        { key: "reason", title: "Why", by: (row) => row.reason, cell: (row) => h("td", { class: "path" }, row.reason) },
      ],
      order: { key: "path", down: false },
      like: (one, other) => compared(one.path, other.path),
      texts: (row) => [row.path, row.reason],
      placeholder: "path or reason",
      size: 25,
    }),
    task.more ? h("p", { class: "quiet" }, `and ${count(task.more)} more, all of them in ${task.whole}`) : null,
  ];
}
