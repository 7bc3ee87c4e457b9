// Rows that can be searched, filtered and ordered, a hundred at a time: a pager works with keyboards and screen readers.

import { h, scrolling } from "./dom.js";
import { count, counted } from "./words.js";

/**
 * The nodes of a listing. A column has `key`, `title`, `cell(row)`, which makes its td or th, and `by(row)`, what it is ordered
 * by: numbers or text, null comes last whichever way; `down` is the way of its first click, `right` sets numbers right.
 * `like(one, other)` orders rows that are alike; `texts(row)` are what a search looks into; `filter` is {title, of(row), values},
 * with the words of each value. `size` rows are a page. In narrow windows each row is a card.
 */
export function listing({ rows, noun, columns, order, like, texts, filter, placeholder, size = 100 }) {
  const chosen = { text: "", only: "", page: 0, ...order };
  const head = h("tr", {});
  const body = h("tbody", {});
  const shown = h("p", { class: "quiet", role: "status" });
  const place = h("span", {});
  const back = h("button", { type: "button", click: () => turn(-1) }, "Previous");
  const on = h("button", { type: "button", click: () => turn(1) }, "Next");
  const search = h("input", { type: "search", placeholder, input: () => choose({ text: search.value.trim().toLowerCase() }) });
  const only = filter ? h("select", { change: () => choose({ only: only.value }) },
    h("option", { value: "" }, `all (${count(rows.length)})`), options(rows, filter)) : null;

  const sorter = h("select", { "aria-label": "Order by", change: () => reorder(columns[Number(sorter.value)]) }, columns.map((column, at) => h("option", { value: at }, column.title)));

  function choose(changed) {
    Object.assign(chosen, { page: 0 }, changed);
    draw();
  }

  function turn(step) {
    chosen.page += step;
    draw();
    head.scrollIntoView({ block: "nearest" });
  }

  function reorder(column) {
    choose({ key: column.key, down: chosen.key === column.key ? !chosen.down : Boolean(column.down) });
    if (document.activeElement !== sorter) head.querySelector(`[data-key="${column.key}"]`).focus();
  }

  function draw() {
    const found = arranged();
    const pages = Math.max(1, Math.ceil(found.length / size));
    const seen = found.slice(chosen.page * size, (chosen.page + 1) * size);
    head.replaceChildren(...columns.map((column) => header(column, chosen, reorder)));
    body.replaceChildren(...seen.map((row) => h("tr", {}, columns.map((column) => titled(column, row)))));
    shown.textContent = found.length === rows.length
      ? counted(rows.length, noun)
      : `${count(found.length)} of ${counted(rows.length, noun)}`;
    place.textContent = `page ${chosen.page + 1} of ${pages}`;
    back.disabled = chosen.page === 0;
    on.disabled = chosen.page >= pages - 1;
    sorter.value = columns.findIndex((column) => column.key === chosen.key);
    pager.hidden = pages === 1;
  }

  function arranged() {
    const wanted = rows.filter((row) => (!chosen.only || filter.of(row) === chosen.only)
      && (!chosen.text || texts(row).some((text) => text.toLowerCase().includes(chosen.text))));
    const { by } = columns.find((column) => column.key === chosen.key);
    return wanted.sort((one, other) => compared(by(one), by(other), chosen.down) || like(one, other));
  }

  const pager = h("nav", { class: "pager", "aria-label": `pages of ${noun}s` }, back, place, on);
  draw();
  return [
    h("div", { class: "tools", role: "search", "aria-label": `search in ${noun}s` },
      h("label", {}, "Search", search), only ? h("label", {}, filter.title, only) : null, h("div", { class: "order" }, h("span", { "aria-hidden": "true" }, "Order by"), sorter)),
    shown,
    scrolling(`list of ${noun}s`,
      h("table", { class: "cards" }, h("caption", { class: "hidden" }, `${noun}s`), h("thead", {}, head), body)),
    pager,
  ];
}

/** A cell that knows its column's title: a card shows it. */
function titled(column, row) {
  const cell = column.cell(row);
  cell.setAttribute("data-title", column.title);
  return cell;
}

function options(rows, filter) {
  return Object.entries(filter.values)
    .map(([value, words]) => [value, words, rows.filter((row) => filter.of(row) === value).length])
    .filter(([, , found]) => found)
    .map(([value, words, found]) => h("option", { value }, `${words} (${count(found)})`));
}

function header(column, chosen, reorder) {
  const sorted = chosen.key === column.key ? (chosen.down ? "descending" : "ascending") : null;
  const mark = sorted === null ? "" : chosen.down ? " ▾" : " ▴";
  return h("th", { scope: "col", "aria-sort": sorted, class: column.right ? "right" : null },
    h("button", { type: "button", "data-key": column.key, click: () => reorder(column) },
      column.title, h("span", { "aria-hidden": "true" }, mark)));
}

export function compared(one, other, down = false) {
  if (one === other) return 0;
  if (one === null || other === null) return one === null ? 1 : -1;
  return (one < other) === down ? 1 : -1;
}
