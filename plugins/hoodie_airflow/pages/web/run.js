// A run of a DAG, task by task.

import { prose } from "./command.js";
import { h } from "./dom.js";
import { compared, listing } from "./listing.js";
import { planned } from "./planned.js";
import { inAirflow } from "./framed.js";
import { starter } from "./start.js";
import { states } from "./states.js";
import { count, moment, size, span } from "./words.js";

const OUTCOMES = { done: ["●", "done", "good"], asks: ["◆", "asks to be approved", "warn"], failed: ["✕", "failed", "bad"],
  paused: ["○", "skipped: the table is paused", "warn"], explained: ["○", "explained, nothing was changed", "soft"], nothing: ["○", "", "soft"] };
const SHOWN = { count, bytes: size, seconds: (value) => `${value.toFixed(1)} s` };

const WORDS = { seconds: "worked for", "cpu seconds": "processor time" };
const EVERY = 3000; // ms between looks at a run that goes on

/** The nodes of the page. While the run goes on, only the tasks that changed are drawn again: readers keep their place. */
export async function run(ask, [, dag, name], tell) {
  const path = `api/runs/${dag}/${name}`;
  const place = h("div", {});
  const drawn = new Map();

  function draw(found) {
    const nodes = found.tasks.map((task) => {
      const text = JSON.stringify([task, found.conf]);
      const before = drawn.get(task.task);
      if (before?.text === text) return before.node;
      const node = taskSection(task, found, tell);
      drawn.set(task.task, { text, node });
      return node;
    });
    const waits = found.tasks.length ? [] : [h("p", { class: "quiet" }, "The run has not begun yet.")];
    const wanted = [...waits, ...nodes];
    if (wanted.length !== place.childNodes.length || wanted.some((node, at) => node !== place.childNodes[at])) place.replaceChildren(...wanted);
    if (found.goes_on) setTimeout(again, EVERY);
  }

  async function again() {
    if (!place.isConnected) return;
    try {
      draw(await ask(path));
    } catch {
      setTimeout(again, EVERY); // the server may be away for a moment
    }
  }

  const found = await ask(path);
  draw(found);
  return [
    h("nav", { "aria-label": "path" }, h("a", { href: "#/" }, "Hudi tables"), " / ", h("a", { href: `#/dag/${encodeURIComponent(found.dag)}` }, found.table || found.dag)),
    h("h1", {}, found.service ? `${found.service} of ${found.table}` : found.dag),
    h("p", { class: "quiet" }, "run ", h("a", { href: airflow(found), click: inAirflow }, found.run)),
    asked(found.conf),
    skipped(found),
    place,
  ];
}

/** The page of a run, or of a task of it, in Airflow itself. */
const airflow = (found, task) => `../dags/${encodeURIComponent(found.dag)}/runs/${encodeURIComponent(found.run)}${task ? `/tasks/${encodeURIComponent(task)}` : ""}`;

/** The values of the run's form. */
function asked(conf) {
  const pairs = Object.entries(conf).filter(([, given]) => given !== null && given !== "");
  if (!pairs.length) return "";
  return h("dl", { class: "facts" }, pairs.map(([name, given]) => h("div", {}, h("dt", {}, name), h("dd", {}, typeof given === "string" ? given : JSON.stringify(given)))));
}

/** Airflow counts a run that did nothing as a success. */
function skipped(found) {
  const paused = found.tasks.find((task) => task.outcome === "paused");
  return paused ? h("div", {}, states([{ severity: "warning", title: "This run did nothing: the table is paused", text: paused.message }])) : "";
}

/** The section of a task. */
export function taskSection(task, found, tell) {
  const [mark, words, colour] = OUTCOMES[task.outcome];
  const took = task.began && task.ended ? `took ${span((Date.parse(task.ended) - Date.parse(task.began)) / 1000)}` : null;
  const waits = task.state === "awaiting_input";
  const facts = [waits ? "waits for approval" : task.state, moment(task.began), took, task.tries > 1 ? `try ${task.tries}` : null, words].filter(Boolean).join(" · ");
  return h("section", { "aria-label": task.task },
    h("h2", {}, h("span", { class: colour, "aria-hidden": "true" }, `${mark} `), task.task),
    h("p", { class: "quiet" }, facts, found.run ? [" · ", h("a", { href: airflow(found, task.task.replace(/\[\d+\]$/, "")), click: inAirflow }, waits ? "approve or reject" : "in Airflow")] : null),
    task.answer ? h("p", {}, h("strong", {}, task.answer)) : null,
    task.progress.map(progressed),
    task.message ? h("p", { class: "lines" }, prose(task.message)) : null,
    task.instant ? h("p", {}, "instant ", h("code", {}, task.instant)) : null,
    h("dl", { class: "facts" }, task.amounts.map((amount) =>
      h("div", {}, h("dt", {}, WORDS[amount.name] ?? amount.name), h("dd", {}, SHOWN[amount.unit](amount.value))))),
    task.lines.length ? h("ul", {}, task.lines.map((line) => h("li", {}, prose(line)))) : null,
    task.files.length ? plan(task, found, tell) : null);
}

/** The same form, with the plan's digest: any other plan is refused. */
function exactly(task, found, tell) {
  const conf = { ...found.conf, operation: "execute", plan: task.digest };
  return h("p", {}, starter(tell, "Run exactly this plan", found.dag, conf, `It would ${task.would}, by plan ${task.digest}.`));
}

/** A bar where it is known how much there is. */
function progressed(part) {
  const shown = SHOWN[part.unit];
  const words = part.whole === null ? part.step : `${part.step}: ${shown(part.done)} of ${shown(part.whole)}${part.unit === "bytes" ? "" : ` ${part.noun}`}`;
  return h("p", {}, h("label", { class: "progressed" }, h("progress", { max: part.whole, value: part.whole === null ? null : part.done }), ` ${words}, for ${span(part.seconds)}`));
}

function plan(task, found, tell) {
  return [
    task.digest ? exactly(task, found, tell) : null,
    planned(task.files),
    listing({
      rows: task.files,
      noun: "file",
      columns: [
        { key: "path", title: "File", by: (row) => row.path, cell: (row) => h("th", { scope: "row", class: "path" }, row.path) },
        { key: "bytes", title: "Size", down: true, right: true, by: (row) => row.bytes, cell: (row) => h("td", { class: "right" }, size(row.bytes)) },
        { key: "reason", title: "Why", by: (row) => row.reason, cell: (row) => h("td", { class: "path" }, row.reason || "new") },
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
