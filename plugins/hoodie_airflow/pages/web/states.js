// Notices for the whole page.

import { command, prose } from "./command.js";
import { h } from "./dom.js";

/** Each is the fact, and the command that helps. */
export function states(found) {
  return found.map((state) =>
    h("div", { class: `state ${state.severity}`, role: state.severity === "error" ? "alert" : "status" },
      h("strong", {}, h("span", { class: "kind" }, state.severity), ` ${state.title}`),
      state.text ? h("p", { class: "lines" }, prose(state.text)) : null,
      state.command ? command(state.command) : null));
}
