// Pauses a table's services, and resumes them.

import { h } from "./dom.js";

/** A form with a reason, or a button that ends the pause of a paused table. */
export function pause(found, tell) {
  const path = `api/tables/${found.declared.name}/pause`;
  const said = h("p", { role: "status" });
  const held = found.seen?.waiting.find((each) => each.kind === "paused");
  const form = held ? resuming(held) : pausing();
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button");
    button.disabled = true;
    try {
      said.textContent = held ? resumed(await tell("DELETE", `${path}?shown=${encodeURIComponent(held.text)}`)) : paused(await tell("POST", path, wanted(form)));
      form.replaceChildren();
    } catch (error) {
      said.textContent = error.message;
      button.disabled = false;
    }
  });
  return [form, said];
}

function pausing() {
  return h("form", { class: "asks" },
    h("p", { class: "quiet" }, "No service of this platform runs on a paused table. Other writers are not affected."),
    h("label", {}, "reason ", h("input", { name: "reason", required: true, maxlength: 1000, size: 60 })),
    h("label", {}, "until (UTC; empty: until a user resumes it) ", h("input", { name: "until", type: "datetime-local" })),
    h("button", {}, "Pause the table"));
}

function resuming(held) {
  return h("form", { class: "asks" }, h("p", {}, held.text), h("button", {}, "Resume its services"));
}

function wanted(form) {
  const { reason, until } = Object.fromEntries(new FormData(form));
  return { reason, until: until ? `${until}:00Z` : null };
}

function paused({ paused: made }) {
  return `Paused by ${made.by}: ${made.reason}. The pages show it after the watcher's next round.`;
}

function resumed({ resumed: ended }) {
  return ended
    ? `The pause by ${ended.by} (${ended.reason}) has ended: services run again. The pages show it after the watcher's next round.`
    : "The table was no longer paused.";
}
