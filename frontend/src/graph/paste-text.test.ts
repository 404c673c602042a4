import { describe, expect, it } from "vitest";
import { clipFrom } from "./paste-text";

describe("a pasted text", () => {
  it("is a piece of a pipeline in every form that a document has", () => {
    const task = { name: "a", template: "command" };
    expect(clipFrom("name: a\ntemplate: command\n")).toEqual({ tasks: [task] });
    expect(clipFrom("- {name: a, template: command}\n")).toEqual({ tasks: [task] });
    expect(clipFrom('{"apiVersion": "cubeloom/v1", "kind": "Pipeline", "tasks": [{"name": "a", "template": "command"}]}')).toEqual({ tasks: [task] });
    expect(clipFrom("canvas:\n  notes:\n    n1: {text: look, at: [0, 0], size: [200, 100]}\n")?.canvas?.notes).toHaveProperty("n1");
  });

  it("is nothing when it is something else", () => {
    for (const text of ["hello", "tasks: 3", "- 1\n- 2", "name: only", "{", "[]"]) expect(clipFrom(text)).toBeUndefined();
  });
});
