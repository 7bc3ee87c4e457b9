// The overview of a table: advice, its size, pending work and blockers, objectives, streams.

import { advice } from "./advice.js";
import { command, prose } from "./command.js";
import { h } from "./dom.js";
import { brief } from "./fleet.js";
import { pairs, plain, section, unread } from "./parts.js";
import { trends } from "./trends.js";
import { ago, amount, count, counted, moment, size } from "./words.js";

export function overview(found, ask, tell) {
  const { declared, seen, now } = found;
  return [
    advice(found, ask, tell),
    declared.description ? h("p", {}, declared.description) : null,
    found.loaded_from ? h("p", {}, `Loaded from ${found.loaded_from.what} of the server `,
      h("a", { href: `#/server/${encodeURIComponent(found.loaded_from.server)}` }, found.loaded_from.server)) : null,
    seen ? [facts(seen, now), h("p", { class: "quiet" }, "Measured ", ago(seen.measured_at, now), ".")] : unread(found),
    seen ? section("Pending work and blockers", waits(seen, now, found.row.reasons.map(brief))) : null,
    seen ? section("Objectives", objectives(seen, now)) : null,
    seen ? section("Trends", trends(found.trends, seen.wrote)) : null,
    section("Follows", follows(found.follows, now)),
    section("Topic", topic(found.topic, now)),
    seen ? section("Consumers of changes", consumers(seen, now)) : null,
  ];
}

function facts(found, now) {
  const shown = { bytes: size, time: (value) => ago(value, now), count };
  return pairs(found.facts.map((fact) => [fact.name, shown[fact.unit](fact.value)]));
}

/** Problems of a damaged table have one cause most of the time: the first is a line, the others open on request. The state above
 * shows its reasons: they are not repeated. */
function waits(found, now, reasons) {
  const problems = found.waiting.filter((each) => each.kind === "problem" && !reasons.includes(brief(each.text)));
  const others = found.waiting.filter((each) => each.kind !== "problem");
  const item = (each, text = each.text) => h("li", {},
    h("strong", {}, `${each.kind}: `), prose(text, each.commands), each.since ? [", ", ago(each.since, now)] : null,
    each.remedy ? h("div", { class: "about" }, prose(each.remedy, each.commands)) : null,
    each.commands.filter((line) => !`${text} ${each.remedy}`.includes(line)).map((line) => h("div", {}, command(line))));
  const hidden = problems.filter((each, at) => at > 0 || brief(each.text) !== each.text);
  return [
    problems.length + others.length ? null : h("p", { class: "quiet" }, "Nothing is pending or blocked."),
    h("ul", { class: "waits" }, problems.slice(0, 1).map((each) => item(each, brief(each.text))), others.map((each) => item(each))),
    hidden.length ? h("details", {}, h("summary", {}, `Details of ${counted(problems.length, "problem")}`), h("ul", { class: "waits" }, hidden.map((each) => item(each)))) : null,
    found.next.length ? h("details", {}, h("summary", {}, "Work that the services would do now"),
      h("ul", {}, found.next.map((line) => h("li", {}, prose(line))))) : null,
  ];
}

function objectives(found, now) {
  if (!found.objectives.length) return null;
  return plain("objectives", ["objective", "verdict", "is", "at most", "missed since", "restored by"], found.objectives.map((each) => [
    each.objective, each.met ? "● met" : "▲ missed", amount(each.value, each.unit), amount(each.limit, each.unit),
    each.met ? "" : ago(each.since, now), each.met ? "" : each.service]));
}

function follows(stream, now) {
  if (!stream) return null;
  const source = stream.table ? h("a", { href: `#/table/${encodeURIComponent(stream.table)}` }, stream.table) : stream.path;
  const read = stream.consumer;
  const missing = stream.looked_at ? ": the stream has read nothing yet" : ": the watcher has not seen its position yet";
  const rate = stream.rows_per_second === null ? "" : count(Math.round(stream.rows_per_second));
  return [
    read ? plain("stream", ["source", "reads", "mode", "position", "commits not read", "since", "last batch", "rows a second", "looked at"], [[
      source, stream.read, stream.mode, read.position ?? "earliest", count(read.commits_behind), ago(read.since, now),
      ago(read.committed_at, now), rate, ago(stream.looked_at, now)]]) : h("p", {}, `The ${stream.read} of `, source, missing),
    lastError(stream.error, now),
  ].filter(Boolean);
}

function topic(found, now) {
  if (!found) return null;
  const trouble = found.trouble || (found.state === "stopped" ? found.reason : "");
  return [
    trouble ? h("p", {}, h("strong", {}, `▲ ${found.trouble ? "not measured" : "stopped"}: `), trouble) : null,
    trouble && found.fix ? h("p", {}, "To do: ", prose(found.fix)) : null,
    found.messages === null ? null : plain("topic", ["topic", "messages that wait", "in partitions", "last position", "measured"], [[
      found.topic, count(found.messages), count(found.partitions), found.moved ? ago(found.moved, now) : "none yet",
      ago(found.measured_at, now)]]),
  ].filter(Boolean);
}

function lastError(error, now) {
  if (!error) return null;
  const run = `#/run/${encodeURIComponent(error.dag)}/${encodeURIComponent(error.run)}`;
  return h("p", {}, h("a", { href: run }, "Last error"), ", ", ago(error.at, now), ": ", prose(error.message));
}

function consumers(found, now) {
  if (!found.consumers.length) return null;
  return plain("consumers", ["consumer", "position", "commits unread", "since", "held until", "committed", "by"], found.consumers.map((each) => [
    each.consumer, each.position ?? "earliest", count(each.commits_behind), ago(each.since, now),
    each.passed ? h("strong", {}, "▲ passed: services no longer keep what it has not read") : moment(each.held_until),
    ago(each.committed_at, now), each.committed_by]));
}
