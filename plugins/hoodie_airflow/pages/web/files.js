// The files of a table: by size, by partition, and the file groups that need a service most.

import { command } from "./command.js";
import { h } from "./dom.js";
import { groups } from "./groups.js";
import { heat } from "./heat.js";
import { compared, listing } from "./listing.js";
import { plain, right, section, share, unread } from "./parts.js";
import { count, counted, size } from "./words.js";

export function files(found) {
  const { seen, declared } = found;
  if (!seen) return [unread(found)];
  return [
    section("Skew", skew(seen.skew)),
    section("Base files by size", sizes(seen.sizes)),
    section("Partitions", partitions(seen, declared.name)),
    section("File groups", groups(seen, declared.name)),
  ];
}

/** Equal sizes are good: one large partition or file takes as long as all others together. */
function skew(found) {
  const rows = [["partitions", found.partitions], ["base files", found.files]].filter(([, of]) => of);
  if (!rows.length) return null;
  const { partitions } = found;
  return [
    plain("skew", ["of", "count", "smallest", "median", "largest", "largest / median", "share of the largest"], rows.map(([name, of]) => [
      name, count(of.count), size(of.smallest), size(of.median), size(of.largest), of.median ? `${(of.largest / of.median).toFixed(1)}\u00a0×` : "", `${(of.share * 100).toFixed(0)} %`])),
    partitions && partitions.count > 1 ? h("p", { class: "quiet" }, `The largest partition is ${partitions.path}.`) : null,
  ];
}

function sizes(bars) {
  const most = Math.max(...bars.map((bar) => bar.files), 1);
  const filled = bars.filter((bar) => bar.files);
  if (!filled.length) return null;
  return plain("base files by size", ["size", "files", "bytes", "share of the largest class"], filled.map((bar) => [
    bar.to_bytes === null ? `from ${size(bar.from_bytes)}` : `to ${size(bar.to_bytes)}`, count(bar.files), size(bar.bytes), h("div", { class: "shares" }, share(bar.files / most))]));
}

function partitions(found, name) {
  if (!found.partitions.length) return null;
  const most = Math.max(...found.partitions.map((row) => row.bytes), 1);
  const more = found.partitions_left_out
    ? h("p", { class: "quiet" }, `and ${counted(found.partitions_left_out, "partition")} more, smaller ones: `, command(`hudi-services show partitions --table ${name}`))
    : null;
  return [found.partitions.length > 1 ? heat(found.partitions) : null, listing({
    rows: found.partitions,
    noun: "partition",
    columns: [
      { key: "path", title: "Partition", by: (row) => row.path, cell: (row) => h("th", { scope: "row", class: "path" }, row.path || "(the table itself)",
        row.missing ? h("div", { class: "about" }, h("span", { class: "bad" }, h("span", { "aria-hidden": "true" }, "✕ "), `${counted(row.missing, "file")} missing`)) : null) },
      { key: "bytes", title: "Size", down: true, right: true, by: (row) => row.bytes, cell: (row) => right(size(row.bytes)) },
      { key: "file_groups", title: "File groups", down: true, right: true, by: (row) => row.file_groups, cell: (row) => right(count(row.file_groups)) },
      { key: "mean", title: "Mean of a file group", down: true, right: true, by: (row) => (row.file_groups ? row.bytes / row.file_groups : null),
        cell: (row) => right(row.file_groups ? size(row.bytes / row.file_groups) : "") },
      { key: "log_bytes", title: "Log bytes", down: true, right: true, by: (row) => row.log_bytes, cell: (row) => right(row.log_bytes ? size(row.log_bytes) : "") },
      { key: "older_bytes", title: "Older versions", down: true, right: true, by: (row) => row.older_bytes, cell: (row) => right(row.older_bytes ? size(row.older_bytes) : "") },
      { key: "share", title: "Share of the largest", down: true, by: (row) => row.bytes,
        cell: (row) => h("td", { class: "shares" }, share(row.bytes / most)) },
    ],
    order: { key: "path", down: false },
    like: (one, other) => compared(one.path, other.path),
    texts: (row) => [row.path],
    placeholder: "partition",
    size: 25,
  }), more];
}
