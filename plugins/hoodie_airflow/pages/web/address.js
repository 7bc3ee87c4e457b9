// The address of the frame in the address of the browser: a link, a reload and back work inside Airflow, too.
// Airflow opens the frame at the address, but does not see the frame move: it reads the address when the frame loads only.

const outer = airflow();
const HOME = "#/";
const PLUGIN = /^.*\/plugin\/[^/]+/; // the path of Airflow's page around the frame

/** Airflow's window around the frame; null without one, or if another site made it. */
function airflow() {
  try {
    return parent !== window && parent.location.origin === location.origin ? parent : null;
  } catch {
    return null;
  }
}

const around = () => PLUGIN.exec(outer.location.pathname)?.[0];
const whole = (hash) => `${outer.location.pathname}${outer.location.search}${hash}`;

/** Before the first page: take the address of a link or a reload, and follow the browser from now on. */
export function adopt() {
  if (outer === null || !around()) return;
  const own = around();
  // The tab of a DAG or a run begins with its own page, the entry of the navigation with all tables.
  const home = outer.location.pathname.includes("/dags/") ? location.hash : HOME;
  if (outer.location.hash.startsWith("#/")) history.replaceState(null, "", outer.location.hash);
  const follow = () => {
    if (outer.location.hash === location.hash || around() !== own) return;
    location.replace(outer.location.hash.startsWith("#/") ? outer.location.hash : home);
  };
  // Without the first, the browser reports back and forward only.
  const [moves, kind] = outer.navigation ? [outer.navigation, "currententrychange"] : [outer, "popstate"];
  moves.addEventListener(kind, follow);
  addEventListener("pagehide", () => moves.removeEventListener(kind, follow));
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.('a[href^="#/"]');
    if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(link.getAttribute("href"));
  });
}

/** Go to a page. The browser's history gets the entry, not the frame's own, which a reload would lose. */
export function go(hash) {
  if (outer === null || !around()) {
    location.hash = hash;
    return;
  }
  if (hash === location.hash) return;
  location.replace(hash);
  const state = outer.history.state;
  outer.history.pushState({ ...state, idx: (state?.idx ?? 0) + 1, key: crypto.randomUUID?.() ?? String(Date.now()) }, "", whole(hash));
}

/** After a page: the address of the browser is that of the page. */
export function mirror() {
  if (outer === null || !around() || outer.location.hash === location.hash) return;
  outer.history.replaceState(outer.history.state, "", whole(location.hash));
}
