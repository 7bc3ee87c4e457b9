// A plan as a picture: a bar for each partition, as long as what the plan touches there, its parts the files, shaded by why.

import { h, s, scrolling } from "./dom.js";
import { count, counted, size } from "./words.js";

const WIDTH = 1100;
const LEFT = 220; // px for the names of partitions
const LANE = 22; // px
const LANES = 40; // partitions, the largest
const KINDS = 6; // shades; more reasons share the last one
const PARTS = 400; // of a lane: what is smaller than the others is drawn as one

/** The nodes: what the shades mean, and the picture. `files` have path, bytes and reason. */
export function planned(files) {
  const kinds = reasons(files);
  const lanes = byPartition(files);
  const shown = lanes.slice(0, LANES);
  const most = Math.max(...shown.map((lane) => lane.bytes), 1);
  const rest = lanes.length - shown.length;
  return [
    h("p", { class: "tools" }, kinds.map((kind, number) => h("span", { class: "legend" },
      s("svg", { width: 14, height: 12, "aria-hidden": "true" }, s("rect", { x: 1, y: 1, width: 12, height: 10, rx: 2, class: `part kind${number}` })),
      ` ${kind.words || "new"} (${count(kind.files)}, ${size(kind.bytes)})`))),
    scrolling("picture of the plan", s("svg", { viewBox: `0 0 ${WIDTH} ${shown.length * LANE + 4}`, class: "timeline", role: "img",
      "aria-label": `The plan by partition: ${counted(files.length, "file")}, listed below` },
      shown.map((lane, row) => drawn(lane, row, most, kinds))), "drawn"),
    rest > 0 ? h("p", { class: "quiet" }, `and ${counted(rest, "partition")} more, of less`) : null,
  ];
}

/** Reasons without the times and numbers in them, the most frequent first. */
function reasons(files) {
  const found = new Map();
  for (const file of files) {
    const words = kindOf(file);
    const kind = found.get(words) ?? { words, files: 0, bytes: 0 };
    kind.files += 1;
    kind.bytes += file.bytes ?? 0;
    found.set(words, kind);
  }
  const all = [...found.values()].sort((one, other) => other.files - one.files);
  if (all.length <= KINDS) return all;
  const others = all.slice(KINDS - 1);
  const sum = (key) => others.reduce((total, kind) => total + kind[key], 0);
  return [...all.slice(0, KINDS - 1), { words: "other reasons", files: sum("files"), bytes: sum("bytes") }];
}

const kindOf = (file) => file.reason.replace(/[\d][\d.,:]*/g, "…");

function byPartition(files) {
  const found = new Map();
  for (const file of files) {
    const path = file.path.includes("/") ? file.path.slice(0, file.path.lastIndexOf("/")) : "";
    const lane = found.get(path) ?? { path, bytes: 0, files: [] };
    lane.bytes += file.bytes ?? 0;
    lane.files.push(file);
    found.set(path, lane);
  }
  const lanes = [...found.values()].sort((one, other) => other.bytes - one.bytes);
  // A plan of partitions or instants has no folders: each is a bar of its own.
  const whole = lanes.length === 1 && lanes[0].path === "" && files.length > 1;
  return whole ? files.map((file) => ({ path: file.path, bytes: file.bytes ?? 0, files: [file] })).sort((one, other) => other.bytes - one.bytes) : lanes;
}

function drawn(lane, row, most, kinds) {
  const scale = (WIDTH - LEFT - 70) / most;
  const parts = [...lane.files].sort((one, other) => (other.bytes ?? 0) - (one.bytes ?? 0));
  const alone = parts.slice(0, PARTS);
  const rest = parts.slice(PARTS);
  let at = LEFT;
  const bar = (wide, kind, title) => {
    const node = s("rect", { x: at, y: row * LANE + 4, width: Math.max(wide - 0.5, 0.75), height: LANE - 8, class: `part kind${kind}` }, s("title", {}, title));
    at += Math.max(wide, 1);
    return node;
  };
  return s("g", {},
    s("text", { x: LEFT - 8, y: row * LANE + LANE / 2 + 4, "text-anchor": "end" }, short(lane.path || "(the table itself)"), s("title", {}, lane.path)),
    alone.map((file) => bar((file.bytes ?? 0) * scale, shade(file, kinds), [file.path, size(file.bytes), file.reason].filter(Boolean).join("\n"))),
    rest.length ? bar(rest.reduce((sum, file) => sum + (file.bytes ?? 0), 0) * scale, KINDS - 1, `${counted(rest.length, "smaller file")}`) : null,
    s("text", { x: Math.min(at + 6, WIDTH - 60), y: row * LANE + LANE / 2 + 4, class: "soft" }, size(lane.bytes)));
}

function shade(file, kinds) {
  const found = kinds.findIndex((kind) => kind.words === kindOf(file));
  return found < 0 ? kinds.length - 1 : found;
}

const short = (path) => (path.length > 32 ? `…${path.slice(-31)}` : path);
