// Commands for a terminal, each whole and with a button that copies it.

import { h } from "./dom.js";

const SHOWN = 2000; // ms for which the button says what it did
const VALUE = "(?:'[^']*'|[^\\s,;'`)-](?:[^\\s,;'`)]*[^\\s,;'`).])?)";
const SHAPES = [
  "`(hudi-services [^`\\n]+)`",
  "(hudi-services(?: [a-z_-]+)+?(?: --[a-z-]+(?:[ =]" + VALUE + ")?)+)(?=[,;)]|\\.?$|\\.\\s)", // no words follow it that may be its own
];

/** A command, as a terminal takes it. */
export function command(text) {
  const code = h("code", { class: "command" }, text);
  const button = h("button", { type: "button", class: "copy", "aria-label": `Copy ${text}`, click: (event) => copied(event, text, code) }, "Copy");
  return h("span", { class: "paste" }, code, button);
}

/** A text whose commands can be copied: those `known`, those in backticks, and those with options before a comma or an end. */
export function prose(text, known = []) {
  const wanted = [...new Set(known)].filter(Boolean).sort((one, other) => other.length - one.length);
  const any = new RegExp([...wanted.map((each) => "`?(" + escaped(each) + ")`?(?![\\w-]| --)"), ...SHAPES].join("|"), "gm");
  const nodes = [];
  let at = 0;
  for (const match of text.matchAll(any)) {
    nodes.push(text.slice(at, match.index), command(match.slice(1).find(Boolean)));
    at = match.index + match[0].length;
  }
  return [...nodes, text.slice(at)].filter((node) => node !== "");
}

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

async function copied(event, text, code) {
  const button = event.currentTarget;
  event.preventDefault(); // the button may be in a summary or a form
  const done = (await byClipboard(text)) || byTextArea(text, button);
  if (!done) getSelection().selectAllChildren(code);
  button.textContent = done ? "Copied" : "Press Ctrl+C";
  button.setAttribute("aria-label", done ? "Copied" : "Selected: press Ctrl+C");
  setTimeout(() => {
    button.textContent = "Copy";
    button.setAttribute("aria-label", `Copy ${text}`);
  }, SHOWN);
}

async function byClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // no HTTPS, or a frame that may not
  }
}

/** The way of pages without HTTPS. */
function byTextArea(text, button) {
  const area = h("textarea", { class: "hidden", readonly: true, "aria-hidden": "true", tabindex: "-1" });
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  button.focus();
  return done;
}
