// Requests to Airflow's API server.

/** JSON of a page. Throws an error with a message for people. */
export function ask(path) {
  return answered(path, {});
}

/** Requests a change, and returns the server's report of it. */
export function tell(method, path, body) {
  const json = body ? { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) } : {};
  return answered(path, { method, ...json });
}

async function answered(path, how) {
  const answer = await fetch(path, { credentials: "same-origin", ...how }).catch(() => {
    throw new Error("Airflow's API server does not answer.");
  });
  if (answer.ok) return answer.json();
  if (answer.status === 401) throw new Error("You are signed out of Airflow: reload the page to sign in.");
  const { detail } = await answer.json().catch(() => ({}));
  if (answer.status === 403 && (detail === undefined || detail === "Forbidden")) throw new Error(`Your role in Airflow may not ${how.method ? "do" : "read"} this.`);
  if (typeof detail === "string" && (how.method || FOR_PEOPLE.has(answer.status))) throw Object.assign(new Error(detail), { none: answer.status === 404, forbidden: answer.status === 403 });
  if (answer.status === 422 && Array.isArray(detail)) throw new Error(detail.map((each) => `${each?.loc?.at(-1)}: ${each?.msg}`).join("; "));
  throw new Error(`Airflow's API server answered HTTP ${answer.status}: its log says why.`);
}

/** Statuses of answers whose text is for people. */
const FOR_PEOPLE = new Set([403, 404, 409, 422, 429, 502, 504]);
