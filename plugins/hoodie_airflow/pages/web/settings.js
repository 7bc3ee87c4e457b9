// The registry's entry of a table, and its pause.

import { h } from "./dom.js";
import { pairs, section } from "./parts.js";
import { pause } from "./pause.js";

export function settings(found, _ask, tell) {
  return [
    section("Registry entry", declared(found.declared)),
    found.may_pause ? section("Pause", pause(found, tell)) : h("p", { class: "quiet" }, "To pause the table, your role must be allowed to pause all of its DAGs."),
  ];
}

function declared(found) {
  const listed = (values) => values.join(", ");
  return pairs([["base path", found.base_path], ["type", found.type.toLowerCase().replaceAll("_", " ")], ["record key", listed(found.record_key)],
    ["partitioned by", listed(found.partition_by)], ["ordered by", listed(found.ordering)], ["owner", found.owner], ["tags", listed(found.tags)],
    ["description", found.description]]);
}
