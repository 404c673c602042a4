// Users, pipelines and runs for the pages.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { until } from "./server.mjs";

const file = (name) => readFileSync(new URL(name, import.meta.url), "utf8");

/**
 * Three tasks: one reports rows; one learns slowly and reports values, an image and outputs; one evaluates
 * them.
 */
export const count = (steps = 8) => file("count.yaml").replace("default: 8", `default: ${steps}`);

const brittle = () => file("brittle.yaml");

/**
 * Runs a task that requests 1 GiB, in one attempt per entry of `needs`, which is in MiB. Returns the runs.
 */
export async function hungry(api, needs) {
  await api("POST", "/projects/default/pipelines", { document: file("hungry.yaml") });
  const runs = [];
  for (const mib of needs) {
    const run = await start(api, { pipeline: "hungry", parameters: { mib: String(mib) } });
    await ended(api, run);
    runs.push(run);
  }
  return runs;
}

/**
 * Lets the task of `hungry` be OOM killed. Returns its resulting state. The server is paused meanwhile:
 * otherwise it would grow the worker's memory in time.
 */
export async function starved(server, api) {
  const run = await start(api, { pipeline: "hungry", parameters: { mib: "400", after: "fill" } });
  const attempts = async () => (await api("GET", `/runs/${run}/tasks/eat/instances/0/attempts`)).body.items;
  await until("the task to run", async () => (await attempts()).some(({ state }) => state === "running"));
  await server.paused(() => {
    writeFileSync(join(server.data, "workspace/default/runs", run, "fill"), "");
    return until("the worker's end", () => existsSync(join(server.data, "runs", run, "eat.0.1/worker-0/exit.json")));
  });
  await ended(api, run);
  const { body } = await api("GET", "/projects/default/pipelines/hungry/tasks/eat/sizing");
  return body.roles[0].past;
}

/** All content for the pages, in the project `default`. */
export async function stage(server) {
  server.user("ada", "--admin");
  server.user("emil", "--project", "default", "--role", "editor");
  server.user("vera", "--project", "default", "--role", "viewer");
  const api = server.api(server.token("ada"));
  for (const text of [count(), brittle()]) {
    await api("POST", "/projects/default/pipelines", { document: text, message: "as it began" });
  }
  const { etag } = await api("GET", "/projects/default/pipelines/count");
  const changed = count(4);
  await api("PUT", "/projects/default/pipelines/count", { document: changed, message: "learn for less long" }, { "if-match": etag });
  // The address is refused: the page shows a failed delivery.
  const rules = { events: ["run_failed", "task_waiting"], pipelines: ["brittle", "count"] };
  await api("POST", "/projects/default/alerts", { name: "On duty", kind: "webhook", address: "http://127.0.0.1:9/in", secret: "s3cret", rules });
  await api("PUT", "/priority-classes/urgent", { priority: 500, preempts: "lower", description: "Retraining of what serves customers" }, { "if-match": '"0"' });
  await api("PUT", "/limits/hdfs-prod", { at_once: 10, a_minute: 100, description: "The name node of production" }, { "if-match": '"0"' });
  const runs = [];
  for (const body of [{ pipeline: "count" }, { pipeline: "count", parameters: { steps: 6 } }, { pipeline: "brittle" }]) {
    runs.push(await start(api, body));
  }
  for (const run of runs) await ended(api, run);
  await api("PUT", "/projects/default/models/counter/aliases/production", { version: 1 });
  return { api, first: runs[0], second: runs[1], broken: runs[2] };
}

export async function start(api, body) {
  return (await api("POST", "/projects/default/runs", body)).body.run.id;
}

/** Waits for the end of a run, up to `seconds`. */
export function ended(api, run, seconds = 60) {
  const state = async () => {
    const { body } = await api("GET", `/runs/${run}`);
    return ["succeeded", "failed", "cancelled"].includes(body.state) && body.state;
  };
  return until(`the run ${run} to end`, state, undefined, seconds);
}

/** Every page, by its route in the policy table. */
export const PAGES = (there) => [
  { name: "home", route: "/", path: "/" },
  { name: "projects", route: "/projects", path: "/projects" },
  { name: "project", route: "/projects/{project}", path: "/projects/default" },
  { name: "pipelines", route: "/projects/{project}/pipelines", path: "/projects/default/pipelines" },
  { name: "pipeline", route: "/projects/{project}/pipelines/{pipeline}", path: "/projects/default/pipelines/count" },
  {
    name: "pipeline-compare",
    route: "/projects/{project}/pipelines/{pipeline}/compare",
    path: "/projects/default/pipelines/count/compare?from=1&to=2",
  },
  {
    name: "sizing",
    route: "/projects/{project}/pipelines/{pipeline}/tasks/{task}/sizing",
    path: "/projects/default/pipelines/count/tasks/learn/sizing",
  },
  { name: "runs", route: "/projects/{project}/runs", path: "/projects/default/runs" },
  { name: "runs-compare", route: "/projects/{project}/compare", path: `/projects/default/compare?runs=${there.first},${there.second}` },
  { name: "calendar", route: "/projects/{project}/calendar", path: "/projects/default/calendar" },
  { name: "run", route: "/runs/{run}", path: `/runs/${there.second}` },
  { name: "run-failed", route: "/runs/{run}", path: `/runs/${there.broken}` },
  { name: "run-task", route: "/runs/{run}/tasks/{task}", path: `/runs/${there.second}/tasks/learn` },
  { name: "run-compare", route: "/runs/{run}/compare", path: `/runs/${there.second}/compare?with=${there.first}` },
  { name: "templates", route: "/templates", path: "/templates" },
  { name: "template", route: "/templates/{template}", path: "/templates/command" },
  { name: "storage", route: "/projects/{project}/storage", path: "/projects/default/storage" },
  { name: "models", route: "/projects/{project}/models", path: "/projects/default/models" },
  { name: "model", route: "/projects/{project}/models/{model}", path: "/projects/default/models/counter" },
  {
    name: "model-version",
    route: "/projects/{project}/models/{model}/versions/{version}",
    path: "/projects/default/models/counter/versions/2",
  },
  { name: "alerts", route: "/projects/{project}/alerts", path: "/projects/default/alerts" },
  { name: "secrets", route: "/projects/{project}/secrets", path: "/projects/default/secrets" },
  { name: "clusters", route: "/clusters", path: "/clusters" },
  { name: "cluster", route: "/clusters/{cluster}", path: "/clusters/local" },
  { name: "cluster-nodes", route: "/clusters/{cluster}/nodes", path: "/clusters/local/nodes" },
  { name: "gpu-history", route: "/clusters/{cluster}/gpu-history", path: "/clusters/local/gpu-history" },
  // The test machine has no GPUs; monitoring.test.mjs has some.
  { name: "card", route: "/clusters/{cluster}/gpus/{gpu}", path: "/clusters/local/gpus/GPU-none", missing: true },
  { name: "holders", route: "/holders", path: "/holders" },
  { name: "quotas", route: "/quotas", path: "/quotas" },
  { name: "usage", route: "/usage", path: "/usage" },
  {
    name: "statement",
    route: "/projects/{project}/statements/{month}",
    path: `/projects/default/statements/${new Date().toISOString().slice(0, 7)}`,
  },
  { name: "users", route: "/users", path: "/users" },
  { name: "audit", route: "/audit", path: "/audit" },
  { name: "project-audit", route: "/projects/{project}/audit", path: "/projects/default/audit" },
  { name: "me", route: "/me", path: "/me" },
  { name: "device", route: "/device", path: "/device" },
  { name: "api", route: "/docs/api", path: "/docs/api" },
  { name: "api-operation", route: "/docs/api/{operation}", path: "/docs/api/health" },
  { name: "import", route: "/projects/{project}/import", path: "/projects/default/import" },
  { name: "new-pipeline", route: "/projects/{project}/new-pipeline", path: "/projects/default/new-pipeline" },
  { name: "new-canvas", route: "/projects/{project}/new-pipeline/canvas", path: "/projects/default/new-pipeline/canvas" },
  { name: "editor", route: "/projects/{project}/pipelines/{pipeline}/edit", path: "/projects/default/pipelines/count/edit" },
  { name: "sign-in", route: "/sign-in", path: "/sign-in", signedIn: false },
  { name: "not-found", route: undefined, path: "/no/such/page", missing: true },
];
