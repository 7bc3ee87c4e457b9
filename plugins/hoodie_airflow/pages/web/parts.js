// Parts that pages share: sections, plain tables, and bars in them.

import { h, scrolling } from "./dom.js";

/** A part with a heading; null without nodes. */
export function section(title, nodes) {
  return nodes ? h("section", { "aria-label": title }, h("h2", {}, title), nodes) : null;
}

/** A table that is neither searched nor sorted. In narrow windows each row is a card. */
export function plain(name, titles, rows) {
  return scrolling(`list of ${name}`, h("table", { class: "cards" }, h("caption", { class: "hidden" }, name),
    h("thead", {}, h("tr", {}, titles.map((title) => h("th", { scope: "col" }, title)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, at) => h("td", { "data-title": titles[at] }, cell)))))));
}

/** The sentence of a table without a snapshot. */
export function unread({ row }) {
  return h("p", { class: "quiet" }, row.looked_at ? "No look of the watcher has read a table here." : "The watcher has not read this table yet.");
}

/** Names with values; pairs without a value are left out. */
export function pairs(found) {
  return h("dl", { class: "facts" }, found.filter(([, value]) => value !== null && value !== undefined && value !== "" && value !== false)
    .map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

/** A bar as a part of the longest one. The number is beside it. */
export function share(part) {
  return h("div", { class: "share", "aria-hidden": "true", style: `width: ${(part * 100).toFixed(1)}%` });
}

/** A cell with its contents to the right. */
export const right = (...children) => h("td", { class: "right" }, ...children);
