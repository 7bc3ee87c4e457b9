// Rows that loads could not write, with their reasons: to look at, to download, and to load again. They are read on request.

import { command } from "./command.js";
import { h } from "./dom.js";
import { listing } from "./listing.js";
import { starter } from "./start.js";
import { count, counted, moment, size } from "./words.js";

/** The nodes of the section: nothing is read before the button is pressed. */
export function quarantine(found, ask, tell) {
  const place = h("div", {});
  const status = h("p", { role: "status", class: "quiet" });
  const button = h("button", { type: "button" }, "Show quarantined rows");
  button.addEventListener("click", async () => {
    button.disabled = true;
    status.textContent = "reading …";
    place.replaceChildren();
    try {
      const answer = await ask(`api/tables/${encodeURIComponent(found.declared.name)}/quarantine`);
      status.textContent = answer.rows.length ? `${answer.more ? "the first " : ""}${counted(answer.rows.length, "row")} of ${counted(answer.loads.length, "load")} in ${answer.folder}` : "No load has left rows in the quarantine.";
      if (answer.rows.length) place.replaceChildren(...shown(answer, found.declared.name, tell));
    } catch (error) {
      status.textContent = error.message;
    }
    button.disabled = false;
  });
  return [h("p", {}, button), status, place];
}

function shown(answer, name, tell) {
  return [
    h("p", { class: "tools" }, download(answer, name), again(answer, tell)),
    h("p", {}, "On a command line, after the fix: ", command(`hudi-services ingest --table ${name} --reload${(answer.again?.files ?? []).map((file) => ` --files ${quoted(file)}`).join("")}`)),
    h("details", {}, h("summary", {}, counted(answer.loads.length, "load")), h("ul", {}, answer.loads.map((load) => h("li", {}, `${load.load}, ${moment(load.at)}, ${counted(load.files, "file")}, ${size(load.bytes)}${load.outcome === "loaded" ? "" : `, ${load.outcome}`}`)))),
    ...listing({
      rows: answer.rows,
      noun: "row",
      columns: [
        { key: "reason", title: "Reason", by: (row) => row.reason, cell: (row) => h("td", { class: "path" }, row.reason) },
        { key: "file", title: "File", by: (row) => row.file, cell: (row) => h("td", { class: "path" }, row.file) },
        { key: "row", title: "Row", by: (row) => row.row, cell: (row) => h("td", { class: "path" }, h("code", {}, row.row)) },
      ],
      order: { key: "reason", down: false },
      like: () => 0,
      texts: (row) => [row.reason, row.file, row.row],
      placeholder: "reason, file or value",
      size: 25,
    }),
  ];
}

/** As a shell reads it. */
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** The rows that are shown, as JSON lines. */
function download(answer, name) {
  const lines = answer.rows.map((row) => `${JSON.stringify(row)}\n`);
  const address = URL.createObjectURL(new Blob(lines, { type: "application/x-ndjson" }));
  return h("a", { href: address, download: `${name}-quarantine.jsonl` }, `Download ${count(answer.rows.length)} rows`);
}

/** The whole files, as a quarantined row is fixed in its file. Rows that are in the table already stay as they are. */
function again({ again: found }, tell) {
  if (!found) return null;
  const files = counted(found.files.length, "file");
  return starter(tell, `Load ${files} again`, found.dag, { reload: true, files: found.files }, `Load ${files} again, after you have fixed them or the registry?`);
}
