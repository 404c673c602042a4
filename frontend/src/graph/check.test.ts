import { expect, test } from "vitest";
import { parse } from "yaml";
import texts from "../../../texts/graph.json";
import cases from "../../../tests/shared-cases/document-problems.json";
import { check, type CheckedTemplate } from "./check";
import type { PipelineDocument } from "./document";
import { worded } from "./finding";
import { documentOf } from "./source/shape";

const files = import.meta.glob<string>("../../../server/compiler/tests/fixtures/*/template.yaml", { query: "?raw", import: "default", eager: true });
const templates = new Map<string, CheckedTemplate>(Object.values(files).map((text) => {
  const { name, version, parameters } = parse(text) as CheckedTemplate & { name: string };
  return [name, { version, versions: [version], parameters }];
}));

interface Expected {
  severity?: string;
  code: string;
  path: string;
}

test.each(cases)("$title", ({ document, problems }) => {
  const { document: read, findings: shape } = documentOf(document);
  const found = [...shape, ...(read ? check(read, templates) : [])];
  const listed = found.map(({ severity, code, path }) => `${severity} ${code} ${path}`).sort();
  expect(listed).toEqual((problems as Expected[]).map(({ severity = "error", code, path }) => `${severity} ${code} ${path}`).sort());
  for (const finding of found) {
    const [english, chinese] = (texts as Record<string, string[]>)[finding.text.replace("graph.", "")] ?? [];
    for (const text of [english, chinese]) {
      const said = worded(finding, (_, values) => (text ?? "").replace(/\{([a-z_]+)\}/g, (whole, name: string) => String(values[name] ?? whole))).message;
      expect(said).not.toMatch(/^$|\{[a-z]+\}/);
    }
  }
});

test("a hint names what is most like", () => {
  const document = { apiVersion: "cubeloom/v1", kind: "Pipeline", name: "p", tasks: [{ name: "pull", template: "ecoh", needs: ["plul"] }] } as PipelineDocument;
  expect(check(document, templates).map(({ text, values }) => [text, values["near"]])).toEqual([["graph.unknown-task-near", "pull"], ["graph.unknown-template-near", "echo"]]);
  expect(check(document, null).map(({ code }) => code)).toEqual(["unknown_task"]);
});

test("five thousand tasks are checked while nobody waits", () => {
  const tasks = Array.from({ length: 5000 }, (_, at) => ({ name: `t${at}`, template: "echo", needs: at > 0 ? [`t${at - 1}`] : [], arguments: { words: [`{{ tasks.t${Math.max(0, at - 2)}.outputs.said }}`] } }));
  const document = { apiVersion: "cubeloom/v1", kind: "Pipeline", name: "p", tasks } as PipelineDocument;
  const started = performance.now();
  const found = check(document, templates);
  expect(performance.now() - started).toBeLessThan(5000);
  expect(found.map(({ path }) => path)).toEqual(["/tasks/0/arguments/words/0", "/tasks/1/arguments/words/0"].slice(0, 1));
});
