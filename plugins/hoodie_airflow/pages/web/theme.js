// Light or dark.

/** Follow Airflow's own choice if Airflow frames this page, otherwise that of the system. */
export function theme() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  let root = null;
  try {
    if (parent !== window) root = parent.document.documentElement;
  } catch {
    // another site frames it: the system's choice is valid
  }
  const show = () => {
    const chosen = root === null ? null : /(^|\s)(dark|light)(\s|$)/.exec(root.className);
    document.documentElement.dataset.theme = chosen ? chosen[2] : system.matches ? "dark" : "light";
  };
  show();
  system.addEventListener("change", show);
  if (root !== null) new MutationObserver(show).observe(root, { attributes: true, attributeFilter: ["class"] });
}
