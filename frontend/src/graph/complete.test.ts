import { expect, test } from "vitest";
import { candidates, type ReportingTemplate } from "./complete";
import type { PipelineDocument } from "./document";
import type { Path } from "./edit";

const document: PipelineDocument = {
  apiVersion: "cubeloom/v1", kind: "Pipeline", name: "p",
  parameters: { date: { type: "date" }, rounds: { type: "integer", default: 60 } },
  tasks: [
    { name: "pull-data", template: "transfer", outputs: ["rows"] },
    { name: "count", template: "python@1.0.0", needs: ["pull-data"] },
    { name: "train", template: "python", needs: ["count"], for_each: { matrix: { rate: [1], depth: [2] } } },
    { name: "other", template: "python" },
  ],
};
const templates = new Map<string, ReportingTemplate>([["transfer", { outputs: [{ name: "bytes", description: "How much." }] }], ["python", { outputs: [] }]]);

/** The completions at the marker `^` of a text. */
function offered(text: string, task: string | null = "train", path: Path = ["arguments", "x"]) {
  const offset = text.indexOf("^");
  const plain = text.replace("^", "");
  const found = candidates({ document, task: task ?? undefined, path, templates }, plain, offset);
  return found && { ...found, replaced: plain.slice(found.from, found.to), labels: found.options.map(({ label }) => label) };
}

test("everything that is known is offered", () => {
  expect(offered("{{ ^ }}")?.labels).toEqual([
    "item", "item.rate", "item.depth", "params.date", "params.rounds", "tasks.pull-data.outputs.rows", "tasks.pull-data.outputs.bytes", "tasks.count.outputs.",
    "run.id", "run.date", "run.date_utc", "run.timestamp", "run.project", "run.user", "run.dir", "task.name", "workspace", "code", "range()",
  ]);
  expect(offered("{{ ^ }}")?.options.find(({ label }) => label === "params.rounds")?.detail).toBe("integer = 60");
});

test("what is typed narrows it, and is replaced", () => {
  expect(offered("a {{ tasks.pull-d^ata.outputs.rows + 1 }}")).toMatchObject({ replaced: "tasks.pull-data", closed: true, labels: ["tasks.pull-data.outputs.rows", "tasks.pull-data.outputs.bytes"] });
  expect(offered("{{ 1 + tasks['pull^")).toMatchObject({ replaced: "tasks['pull", closed: false, labels: ["tasks.pull-data.outputs.rows", "tasks.pull-data.outputs.bytes"] });
  expect(offered("{{ rounds^")?.labels).toEqual(["params.rounds"]);
  expect(offered("{{ params.date | da^ }}")).toMatchObject({ replaced: "da", labels: ["days", "days_until"] });
  expect(offered("{{ nothing^ }}")?.labels).toEqual([]);
});

test("nothing outside of expressions and inside of quotes", () => {
  for (const text of ["^ {{ params.date }}", "{{ params.date }} ^", "{{ 'a^' }}", "par^ams", "{{ (1 + 2).^ }}"]) expect(offered(text)).toBeUndefined();
});

test("only what has a value there", () => {
  expect(offered("^", "train", ["when"])?.labels).not.toContain("workspace");
  expect(offered("tasks.c^", "train", ["for_each", "from"])?.labels).toEqual(["tasks.count.outputs."]);
  expect(offered("{{ ^ }}", "train", ["setup", 0])?.labels.filter((label) => /^(tasks|item)/.test(label))).toEqual([]);
  expect(offered("{{ item^ }}", "count")?.labels).toEqual([]);
  expect(offered("{{ ^ }}", null, ["parameters", "date", "default"])?.labels.every((label) => label.startsWith("run."))).toBe(true);
  expect(offered("{{ ^ }}", null, ["env", "A"])?.labels).toContain("params.date");
});
