// The card on Airflow's home page. After any error it shows nothing: an error here would cover the home page of every user.

const NAME = "Hudi tables";
const WORDS = {
  gone: "gone", missing: "not there", unreadable: "cannot be read", damaged: "damaged", loses: "losing rows", failed: "with a failed run",
  asks: "waiting for approval", blocked: "blocked", missed: "with missed objectives",
  absent: "not there yet", unknown: "not looked at yet", paused: "paused", ok: "fine",
};
const FRAME = { border: "1px solid color-mix(in srgb, currentColor 25%, transparent)", borderRadius: "6px", padding: "12px 16px", margin: "12px 0" };
const LINK = { textDecoration: "underline" };

/** The card's nodes for an answer; null for an empty one. */
function shown(h, found) {
  const counts = Object.entries(WORDS).filter(([state]) => Number.isInteger(found?.states?.[state]) && found.states[state] > 0);
  if (!counts.length) return null;
  const gravest = Array.isArray(found.gravest) ? found.gravest.slice(0, 3) : [];
  return h("section", { "aria-label": NAME, style: FRAME },
    h("h2", { style: { fontWeight: 600 } }, h("a", { style: LINK, href: "plugin/hudi" }, NAME)),
    h("p", null, counts.map(([state, words]) => `${found.states[state]} ${words}`).join(" · ")),
    gravest.length ? h("ul", { style: { paddingLeft: "1.2em" } }, ...gravest.map((each) =>
      h("li", { key: String(each?.name) }, h("a", { style: LINK, href: `plugin/hudi/hudi/#/table/${encodeURIComponent(String(each?.name))}` }, String(each?.name)), each?.reason ? `: ${String(each.reason)}` : null))) : null);
}

function Card() {
  const { useEffect, useState, createElement } = globalThis.React;
  const [found, keep] = useState(null);
  useEffect(() => {
    fetch(new URL("hudi/api/card", document.baseURI), { credentials: "same-origin" })
      .then((answer) => (answer.ok ? answer.json() : null)).then(keep).catch(() => {});
  }, []);
  try {
    return found === null ? null : shown(createElement, found);
  } catch {
    return null;
  }
}

globalThis[NAME] = Card;
export default Card;
