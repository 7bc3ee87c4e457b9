// Runs of DAGs that are started from a page, by Airflow's own API: its rights hold.

import { go } from "./address.js";
import { h } from "./dom.js";

const API = "../api/v2/dags/";

/**
 * A button that starts a run of `dag` with `conf`, and goes to its page. With `sure` a second one asks before that, under these
 * words: frames of Airflow's may open no dialogs.
 */
export function starter(tell, words, dag, conf, sure = null) {
  const said = h("span", { role: "status", class: "quiet" });
  const first = h("button", { type: "button", click: () => (sure === null ? begin(first) : ask()) }, words);
  const place = h("span", { class: "starter" }, first, said);

  function ask() {
    const yes = h("button", { type: "button", click: () => begin(yes) }, "Start");
    const no = h("button", { type: "button", click: () => { place.replaceChildren(first, said); first.focus(); } }, "Cancel");
    place.replaceChildren(h("strong", {}, sure), yes, no, said);
    yes.focus();
  }

  async function begin(button) {
    button.disabled = true;
    said.textContent = " starting …";
    try {
      go(await start(tell, dag, conf));
    } catch (error) {
      said.textContent = ` ${error.message}`;
      button.disabled = false;
    }
  }

  return place;
}

/** The address of the page of a new run. A DAG that is switched off is an error: its run would wait for ever. */
async function start(tell, dag, conf) {
  const path = `${API}${encodeURIComponent(dag)}`;
  const found = await tell("GET", path);
  if (found.is_paused) throw new Error(`The DAG ${dag} is switched off in Airflow: a run would wait until a user switches the DAG on.`);
  const run = await tell("POST", `${path}/dagRuns`, { logical_date: null, conf });
  return `#/run/${encodeURIComponent(dag)}/${encodeURIComponent(run.dag_run_id)}`;
}
