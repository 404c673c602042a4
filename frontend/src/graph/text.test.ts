import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PipelineDocument } from "./document";
import { addTask, connect, disconnect, place, removeItems, renameTask, setPath, setPipelinePath } from "./edit";
import { SourceText } from "./text";

const TEXT = `# The clicks of yesterday.
apiVersion: cubeloom/v1
kind: Pipeline
name: clicks   # short

# What may be chosen.
parameters:
  date: {type: date, default: "{{ run.date | days(-1) }}"}
  rounds: {type: integer, default: 60}   # enough

tasks:
  # Gets them.
  - name: pull
    template: transfer
    arguments: {from: ['https://example.org/{{ params.date }}.csv'], to: clicks.csv}

  - name: count   # counts
    template: python
    needs: [pull]
    arguments:
      code: |
        import sys

        print(sys.argv)
      args:
      - a   # first
      - "b"
    resources: &small
      cpu: 1   # one

  # Tells them.
  - {name: tell, template: command, needs: [count], resources: *small}
  - name: again
    template: python
    resources:
      <<: *small
      memory: 1Gi
# The end.
`;

const read = (text: string) => {
  const source = SourceText.parse(text);
  if (!source.document) throw new Error(JSON.stringify(source.problems));
  return { source, document: source.document };
};

/** The diff of a change to a text, as removed and added lines. */
function lines(text: string, change: (document: PipelineDocument) => PipelineDocument): string[] {
  const { source, document } = read(text);
  const next = source.with(change(document));
  expect(next.document).toEqual(change(document));
  const [before, after] = [text.split("\n"), next.text.split("\n")];
  let start = 0;
  while (start < before.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return [...before.slice(start, before.length - end).map((line) => `-${line}`), ...after.slice(start, after.length - end).map((line) => `+${line}`)];
}

describe("only what changed is written", () => {
  test("nothing", () => {
    const { source, document } = read(TEXT);
    expect(source.with({ ...document, tasks: [...document.tasks] }).text).toBe(TEXT);
  });

  test("scalars keep their quotes and comments", () => {
    expect(lines(TEXT, (d) => setPipelinePath(d, ["parameters", "rounds", "default"], 70))).toEqual(["-  rounds: {type: integer, default: 60}   # enough", "+  rounds: {type: integer, default: 70}   # enough"]);
    expect(lines(TEXT, (d) => setPath(d, "count", ["arguments", "args", 1], "it's"))).toEqual(['-      - "b"', `+      - "it's"`]);
    expect(lines(TEXT, (d) => setPath(d, "pull", ["arguments", "from", 0], "x"))[1]).toBe("+    arguments: {from: ['x'], to: clicks.csv}");
    expect(lines(TEXT, (d) => setPath(d, "count", ["arguments", "code"], "import os\n"))).toEqual(["-        import sys", "-", "-        print(sys.argv)", "+        import os"]);
    expect(lines(TEXT, (d) => setPipelinePath(d, ["name"], "x-1"))).toEqual(["-name: clicks   # short", "+name: x-1   # short"]);
  });

  test("keys and elements come where they belong", () => {
    expect(lines(TEXT, (d) => setPath(d, "count", ["timeout"], "5m"))).toEqual(["+    timeout: 5m"]);
    expect(lines(TEXT, (d) => setPath(d, "tell", ["timeout"], "5m"))[1]).toBe("+  - {name: tell, template: command, needs: [count], resources: *small, timeout: 5m}");
    expect(lines(TEXT, (d) => setPath(d, "count", ["arguments", "args", 2], "{{ item }}"))).toEqual(['+      - "{{ item }}"']);
    expect(lines(TEXT, (d) => connect(d, "pull", "tell"))[1]).toBe("+  - {name: tell, template: command, needs: [count, pull], resources: *small}");
    expect(lines(TEXT, (d) => setPipelinePath(d, ["env", "A"], "1"))).toEqual(["+env:", '+  A: "1"']);
    expect(lines(TEXT, (d) => addTask(d, { name: "new", template: "python", arguments: { code: "a\nb\n" } }, [0, 120]))).toEqual([
      "+", "+  - name: new", "+    template: python", "+    arguments:", "+      code: |", "+        a", "+        b", "+canvas:", "+  positions:", "+    new: [0, 120]",
    ]);
  });

  test("what goes takes its own comments with it", () => {
    expect(lines(TEXT, (d) => removeItems(d, ["task:pull"])).slice(0, 6)).toEqual(["-  # Gets them.", "-  - name: pull", "-    template: transfer", "-    arguments: {from: ['https://example.org/{{ params.date }}.csv'], to: clicks.csv}", "-", "-  - name: count   # counts"]);
    expect(lines(TEXT, (d) => disconnect(d, "pull", "count"))).toEqual(["-    needs: [pull]"]);
    expect(lines(TEXT, (d) => setPath(d, "count", ["arguments", "args"], ["b"]))).toEqual(["-      - a   # first"]);
    expect(lines(TEXT, (d) => setPipelinePath(d, ["parameters"], undefined))).toEqual(["-# What may be chosen.", "-parameters:", '-  date: {type: date, default: "{{ run.date | days(-1) }}"}', "-  rounds: {type: integer, default: 60}   # enough"]);
  });

  test("an anchored value that changes is written out where it is used", () => {
    const changed = lines(TEXT, (d) => setPath(d, "count", ["resources", "cpu"], 2));
    expect(changed).toContain("+      cpu: 2   # one");
    expect(changed).toContain("+  - {name: tell, template: command, needs: [count], resources: {cpu: 1}}");
    expect(changed).toContain("+      cpu: 1");
    expect(lines(TEXT, (d) => setPath(d, "tell", ["resources", "cpu"], 3))[1]).toBe("+  - {name: tell, template: command, needs: [count], resources: {cpu: 3}}");
    expect(lines(TEXT, (d) => setPath(d, "again", ["resources", "cpu"], 3))).toEqual(["+      cpu: 3"]);
    expect(lines(TEXT, (d) => setPath(d, "again", ["resources", "cpu"], undefined))).toEqual(["-      <<: *small"]);
    expect(lines(TEXT, (d) => removeItems(d, ["task:count"]))).toContain("+  - {name: tell, template: command, resources: {cpu: 1}}");
  });

  test("other names and places", () => {
    expect(lines(TEXT, (d) => renameTask(d, "again", "once"))).toEqual(["-  - name: again", "+  - name: once"]);
    const placed = read(TEXT).source.with(place(read(TEXT).document, { pull: [0, 0], count: [300, 0] }));
    expect(placed.text.endsWith("# The end.\n") || placed.text.includes("canvas:\n  positions:\n    pull: [0, 0]\n    count: [300, 0]\n")).toBe(true);
    expect(lines(placed.text, (d) => place(d, { count: [308, 8] }))).toEqual(["-    count: [300, 0]", "+    count: [308, 8]"]);
    expect(lines(placed.text, (d) => renameTask(d, "pull", "get")).at(-1)).toBe("+    get: [0, 0]");
  });
});

describe("JSON stays JSON", () => {
  const json = JSON.stringify({ apiVersion: "cubeloom/v1", kind: "Pipeline", name: "p", tasks: [{ name: "a", template: "echo" }, { name: "b", template: "echo", needs: ["a"] }] }, undefined, 2);

  test("in its own lines", () => {
    const { source, document } = read(`${json}\n`);
    const next = source.with(setPath(addTask(document, { name: "c", template: "echo", arguments: { words: ["x"] } }, [0, 8]), "a", ["resources", "cpu"], 1));
    expect(next.isJson).toBe(true);
    expect(next.text).toBe(`${JSON.stringify(next.document, undefined, 2).replace(/\[\n\s+(\d+),\n\s+(\d+)\n\s+\]/, "[$1, $2]").replace(/\[\n\s+"(\w)"\n\s+\]/g, (_, name: string) => (name === "a" ? `[\n        "a"\n      ]` : `["${name}"]`))}\n`);
  });
});

describe("what is wrong has a place", () => {
  const problems = (text: string) => SourceText.parse(text).problems.map(({ code, path, line, column }) => `${code} ${path} ${String(line)}:${String(column)}`);

  test.each([
    ["a: [1, 2\nb: 3", ["syntax  2:1"]],
    ["", ["syntax  1:1"]],
    ["# nothing\n", ["syntax  1:1"]],
    ["a: 1\n---\nb: 2", ["syntax  2:1"]],
    ["a: !foo 1", ["syntax  1:4"]],
    ["tasks: []\na: *b\n", ["syntax  2:4"]],
    ["name: p\nname: q\ntasks: []\n", ["duplicate_key /name 2:1"]],
    ["name: p\ntasks:\n  - name: a\n  - template: x\n", ["missing_key /tasks/0 3:5", "missing_key /tasks/1 4:5"]],
    ["name: p\ntasks: [{name: a, template: x, needs: b}]\n", ["wrong_type /tasks/0/needs 2:32"]],
  ])("%s", (text, expected) => {
    expect(problems(text)).toEqual(expected);
  });

  test("a hostile text ends nothing", () => {
    expect(problems("[".repeat(100_000)).length).toBe(1);
    const laughs = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]", ...Array.from({ length: 11 }, (_, n) => `a${n + 1}: &a${n + 1} [${`*a${n}, `.repeat(10).slice(0, -2)}]`)].join("\n");
    expect(problems(laughs)[0]).toMatch(/^too_large/);
  });

  test("places of pointers", () => {
    const { source } = read(TEXT);
    const { line, from, to } = source.locate("/tasks/1/resources/cpu");
    expect([line, TEXT.slice(from, to)]).toEqual([29, "cpu: 1"]);
    expect(source.pathAt(from + 2)).toBe("/tasks/1/resources/cpu");
  });
});

const word = fc.oneof(fc.stringMatching(/^[a-z][a-z0-9-]{0,6}$/), fc.string({ unit: "grapheme", maxLength: 12 }), fc.constantFrom("true", "null", "1e3", "0x1f", "- a", "a: b", "a #b", "{{ params.x }}", "l1\nl2\n", "l1\n\nl2", " x\ny", "1:30", "~", "|", "&a", "*a", "", "a\n", "\n", "\n\na", "a\n\n", "x,y", "[a", "%x", "@x", "`x", "!x", "2026-01-01", "..", "---", "? a", "=", "<<"));
const key = word.filter((text) => text !== "<<");
const json: fc.Memo<unknown> = fc.memo((depth) => fc.oneof(word, fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (Object.is(n, -0) ? 0 : n)), fc.boolean(), ...(depth > 1 ? [fc.array(json(depth - 1), { maxLength: 4 }), fc.dictionary(key, json(depth - 1), { maxKeys: 4, noNullPrototype: true })] : [])));
const anyTask = fc.record({ name: fc.stringMatching(/^[a-z]{1,3}$/), template: word, arguments: fc.dictionary(key, json(4), { maxKeys: 4, noNullPrototype: true }), needs: fc.array(fc.stringMatching(/^[a-z]{1,3}$/), { maxLength: 3 }) }, { requiredKeys: ["name", "template"] });
const anyDocument = fc.record({ apiVersion: fc.constant("cubeloom/v1"), kind: fc.constant("Pipeline"), name: word, description: word, env: fc.dictionary(key, word, { maxKeys: 3, noNullPrototype: true }), tasks: fc.array(anyTask, { maxLength: 5 }) }, { requiredKeys: ["apiVersion", "kind", "name", "tasks"] }).map((document) => document as unknown as PipelineDocument);

describe("reading gives what was written", () => {
  test("for a new text", () => {
    fc.assert(fc.property(anyDocument, (document) => { expect(SourceText.of(document).document).toEqual(document); }), { numRuns: 100 });
  });

  test("for one document in the text of another, in YAML and in JSON", () => {
    fc.assert(fc.property(anyDocument, anyDocument, fc.boolean(), (document, other, asJson) => {
      const source = asJson ? SourceText.parse(JSON.stringify(document, undefined, 2)) : SourceText.of(document);
      const next = source.with(other);
      expect(next.document).toEqual(other);
      expect(next.isJson).toBe(asJson);
      expect(next.with(other)).toBe(next);
    }), { numRuns: 100 });
  });

  test("for a document in a text with comments, anchors and merges", () => {
    fc.assert(fc.property(anyDocument, (other) => { expect(read(TEXT).source.with(other).document).toEqual(other); }), { numRuns: 100 });
  });
});
