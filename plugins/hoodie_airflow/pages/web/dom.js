// Nodes of the page. Text is only ever set as text: markup in a name of a table or a path stays text.

const SVG = "http://www.w3.org/2000/svg";

/** An element: `attributes` are set as they are, functions as listeners; null and false are left out. */
export function h(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** The same of SVG. */
export function s(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(key, value);
    else if (key === "value" || key === "checked") node[key] = value;
    else node.setAttribute(key, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** A part of the page that scrolls to the side where it is wider than the window, by keys too; `kind` is a class more. */
export function scrolling(label, nodes, kind = "") {
  return h("div", { class: `wide ${kind}`, tabindex: "0", role: "group", "aria-label": label }, nodes);
}
