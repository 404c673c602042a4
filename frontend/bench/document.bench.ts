//! What a document of 5,000 tasks costs: its text read and written (in the editor a worker does that), and its check,
//! which the page does after each change. `npm run bench:document`.

import { bench, describe } from "vitest";
import { check, type CheckedTemplates } from "../src/graph/check";
import type { Json, PipelineDocument } from "../src/graph/document";
import { SourceText } from "../src/graph/text";
import { toYaml } from "../src/graph/yaml";
import { pipeline } from "./graphs";

const document = withExpressions(pipeline(5000));
const source = SourceText.of(document);
const moved: PipelineDocument = { ...document, canvas: { ...document.canvas, positions: { ...document.canvas?.positions, "task-77": [1, 2] } } };
const schema = { type: "object", properties: { command: { type: "array", items: { type: "string" } } } };
const templates: CheckedTemplates = new Map([["command", { version: "1.0.0", versions: ["1.0.0"], parameters: schema }]]);

describe(`5,000 tasks, ${Math.round(source.text.length / 1000)} kB of YAML`, () => {
  bench("written anew", () => { toYaml(document as unknown as Json); }, { time: 2000 });
  bench("read", () => { SourceText.parse(source.text); }, { time: 5000 });
  bench("one node moved, written into the text", () => { source.with(moved); }, { time: 5000 });
  bench("checked for the first time", () => { check(copied(document), templates); }, { time: 3000 });
  check(document, templates);
  bench("checked after one task has changed", () => { check(changed(document), templates); }, { time: 3000 });
});

/** Each task reads a parameter, and an output of what it needs. */
function withExpressions(plain: PipelineDocument): PipelineDocument {
  const tasks = plain.tasks.map((task) => ({ ...task, arguments: { command: ["python3", "{{ params.rows }}", ...(task.needs ?? []).map((need) => `{{ tasks['${need}'].outputs.model }}`)] } }));
  return { ...plain, parameters: { rows: { type: "string", default: "10" } }, tasks };
}

function copied(of: PipelineDocument): PipelineDocument {
  return { ...of, tasks: of.tasks.map((task) => ({ ...task })) };
}

function changed(of: PipelineDocument): PipelineDocument {
  return { ...of, tasks: of.tasks.map((task, at) => (at === 2500 ? { ...task, description: "another" } : task)) };
}
