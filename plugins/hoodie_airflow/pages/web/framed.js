// Links out of the frame in which Airflow shows the pages.

/** In the frame of Airflow's page a link would load a second Airflow inside the first. */
export function inAirflow(event) {
  if (parent === window) return;
  event.preventDefault();
  const link = parent.document.createElement("a");
  link.href = event.currentTarget.href;
  link.click();
}
