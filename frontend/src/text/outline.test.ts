import { describe, expect, it } from "vitest";
import { outline, placeAt } from "./outline";

const TEXT = `apiVersion: cubeloom/v1
name: p
parameters:
  seed: {type: integer, default: 7}
tasks:
  - name: one
    template: python
    arguments:
      code: |
        import os
        x: 1
      args: [a, b]
  - name: two   # a comment
    needs: [one]
`;

describe("outline", () => {
  it("knows the path of every key, and leaves texts alone", () => {
    const paths = outline(TEXT).map((entry) => `${entry.path.join("/")}=${entry.value}`);
    expect(paths).toContain("tasks/0/template=python");
    expect(paths).toContain("tasks/1/name=two");
    expect(paths.some((path) => path.includes("/x"))).toBe(false);
    expect(paths).toContain("tasks/0/arguments/args=[a, b]");
  });

  it("takes lists that are not indented", () => {
    const paths = outline("tasks:\n- name: a\n- name: b\n  needs:\n  - a\nenv: {}\n").map((entry) => entry.path.join("/"));
    expect(paths).toEqual(["tasks", "tasks/0/name", "tasks/1/name", "tasks/1/needs", "tasks/1/needs/0", "env"]);
  });
});

describe("placeAt", () => {
  const at = (text: string) => {
    const place = placeAt(text);
    return place && `${place.path.join("/")}${place.value ? "=" : ":"}${place.word}`;
  };

  it("finds keys that are being written", () => {
    expect(at("na")).toBe(":na");
    expect(at(`${TEXT}    tem`)).toBe("tasks/1:tem");
    expect(at("tasks:\n  - name: a\n    ")).toBe("tasks/0:");
    expect(at("tasks:\n  - na")).toBe("tasks/0:na");
    expect(at("tasks:\n  - name: a\n    arguments:\n      sc")).toBe("tasks/0/arguments:sc");
    expect(at("tasks:\n  - name: a\n    arguments: {}\npara")).toBe(":para");
  });

  it("finds values that are being written", () => {
    expect(at("tasks:\n  - template: py")).toBe("tasks/0/template=py");
    expect(at("tasks:\n  - needs: [one, tw")).toBe("tasks/0/needs/1=tw");
    expect(at("tasks:\n  - needs:\n      - o")).toBe("tasks/0/needs/0:o");
  });

  it("goes into braces", () => {
    expect(at("parameters:\n  seed: {ty")).toBe("parameters/seed:ty");
    expect(at("parameters:\n  seed: {type: in")).toBe("parameters/seed/type=in");
    expect(at("tasks:\n  - {name: a, resources: {cpu: 1, me")).toBe("tasks/0/resources:me");
    expect(at('a: "{{ par')).toBe('a="{{ par');
  });

  it("says nothing in texts and comments", () => {
    expect(at("code: |\n  import o")).toBeNull();
    expect(at("name: a # comm")).toBeNull();
  });
});
