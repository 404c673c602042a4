// People, pipelines and runs for the pages to show.

import { until } from "./server.mjs";

/** Three tasks: one writes slowly, one reports values, a picture and outputs, one looks at it. */
export const document = (name, steps = 8) => `apiVersion: cubeloom/v1
kind: Pipeline
name: ${name}
label: Learn to count
description: Prepares rows, learns from them, and says how well.
parameters:
  steps: {type: integer, default: ${steps}, description: How long it learns}
tasks:
  - name: prepare
    template: command
    arguments:
      command: [sh, -c, 'echo reading rows; echo \\'{"output": {"rows": 120}}\\' >> "$CUBELOOM_OUTPUTS"']
  - name: learn
    template: command
    needs: [prepare]
    arguments:
      command:
        - python3
        - -c
        - |
          import json, os, sys, time, zlib, struct
          steps = int(sys.argv[1])
          def say(**line):
              with open(os.environ["CUBELOOM_OUTPUTS"], "a") as file:
                  file.write(json.dumps(line) + "\\n")
          for step in range(steps):
              print(f"step {step} of {steps}", flush=True)
              say(metric={"name": "loss", "value": 1 / (step + 1), "step": step})
              time.sleep(0.25)
          def chunk(kind, data):
              return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
          rows = b"".join(b"\\0" + bytes((x * 4 + y) % 256 for x in range(64)) for y in range(64))
          picture = b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 64, 64, 8, 0, 0, 0, 0))
          picture += chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
          open(os.path.join(os.environ["CUBELOOM_RUN_DIR"], "shades.png"), "wb").write(picture)
          open(os.path.join(os.environ["CUBELOOM_RUN_DIR"], "table.csv"), "w").write("step,loss\\n1,0.5\\n2,0.25\\n")
          say(artifact={"name": "shades", "path": "shades.png"})
          say(artifact={"name": "table", "path": "table.csv"})
          say(output={"accuracy": 0.98})
        - "{{ params.steps }}"
  - name: judge
    template: command
    needs: [learn]
    arguments: {command: [sh, -c, 'echo good enough; echo a warning >&2']}
`;

export const failing = `apiVersion: cubeloom/v1
kind: Pipeline
name: brittle
tasks:
  - name: breaks
    template: command
    arguments: {command: [sh, -c, 'echo it was going so well; echo no such file >&2; exit 3']}
  - {name: after, template: command, needs: [breaks], arguments: {command: ['true']}}
`;

/** Everything that pages show, in the project \`default\`. */
export async function stage(server) {
  server.user("ada", "--admin");
  server.user("emil", "--project", "default", "--role", "editor");
  server.user("vera", "--project", "default", "--role", "viewer");
  const api = server.api(server.token("ada"));
  for (const text of [document("count"), failing]) {
    await api("POST", "/projects/default/pipelines", { document: text, message: "as it began" });
  }
  const { etag } = await api("GET", "/projects/default/pipelines/count");
  const changed = document("count", 4);
  await api("PUT", "/projects/default/pipelines/count", { document: changed, message: "learn for less long" }, { "if-match": etag });
  const runs = [];
  for (const body of [{ pipeline: "count" }, { pipeline: "count", parameters: { steps: 6 } }, { pipeline: "brittle" }]) {
    runs.push(await start(api, body));
  }
  for (const run of runs) await ended(api, run);
  return { api, first: runs[0], second: runs[1], broken: runs[2] };
}

export async function start(api, body) {
  return (await api("POST", "/projects/default/runs", body)).body.run.id;
}

export function ended(api, run) {
  const state = async () => {
    const { body } = await api("GET", `/runs/${run}`);
    return ["succeeded", "failed", "cancelled"].includes(body.state) && body.state;
  };
  return until(`the run ${run} to end`, state, undefined, 60);
}

/** Every page, by the route that the policy's table has for it. */
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
  { name: "runs", route: "/projects/{project}/runs", path: "/projects/default/runs" },
  { name: "run", route: "/runs/{run}", path: `/runs/${there.second}` },
  { name: "run-failed", route: "/runs/{run}", path: `/runs/${there.broken}` },
  { name: "run-task", route: "/runs/{run}/tasks/{task}", path: `/runs/${there.second}/tasks/learn` },
  { name: "run-compare", route: "/runs/{run}/compare", path: `/runs/${there.second}/compare?with=${there.first}` },
  { name: "templates", route: "/templates", path: "/templates" },
  { name: "template", route: "/templates/{template}", path: "/templates/command" },
  { name: "storage", route: "/projects/{project}/storage", path: "/projects/default/storage" },
  { name: "secrets", route: "/projects/{project}/secrets", path: "/projects/default/secrets" },
  { name: "clusters", route: "/clusters", path: "/clusters" },
  { name: "users", route: "/users", path: "/users" },
  { name: "audit", route: "/audit", path: "/audit" },
  { name: "me", route: "/me", path: "/me" },
  { name: "api", route: "/docs/api", path: "/docs/api" },
  { name: "sign-in", route: "/sign-in", path: "/sign-in", signedIn: false },
  { name: "not-found", route: undefined, path: "/no/such/page", missing: true },
];
