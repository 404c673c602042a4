import { describe, expect, it } from "vitest";
import type { TemplateInfo } from "../editor/templates";
import { instancesOf, resourcesOf, templateLabel } from "./summary";

/** A template with a role per name and its worker count; nodes show the last. */
function template(roles: Record<string, number | string>, resources: Record<string, unknown> = { cpu: 2, memory: "4Gi" }): TemplateInfo {
  const both = { en: "Train", zh: "训练" };
  const parameters = { properties: { workers: { default: 4 } } };
  return {
    name: "train", version: "1.0.0", versions: ["1.0.0"], group: "training", label: both, help: both, framework: "pytorch", parameters, outputs: [],
    roles: Object.entries(roles).map(([name, replicas]) => ({ name, replicas, resources })),
  };
}

const task = { name: "a", template: "train" };

describe("what a node says of its resources", () => {
  it("is what one worker gets, and how many there are", () => {
    expect(resourcesOf(task, template({ worker: 1 }))).toBe("2 CPU, 4Gi");
    expect(resourcesOf(task, template({ worker: 3 }))).toBe("3 × 2 CPU, 4Gi");
  });

  it("counts the workers of all roles, and tells what the last of them gets", () => {
    expect(resourcesOf({ ...task, role_resources: { worker: { cpu: 8 } } }, template({ master: 1, worker: 3 }))).toBe("4 × 8 CPU, 4Gi");
    expect(resourcesOf({ ...task, role_resources: { master: { cpu: 8 } } }, template({ master: 1, worker: 3 }))).toBe("4 × 2 CPU, 4Gi");
  });

  it("reads replicas from the argument, else from its default, and says none where they depend on more", () => {
    const many = template({ worker: "{{ args.workers }}" });
    expect(resourcesOf({ ...task, arguments: { workers: 16 } }, many)).toBe("16 × 2 CPU, 4Gi");
    expect(resourcesOf(task, many)).toBe("4 × 2 CPU, 4Gi");
    expect(resourcesOf({ ...task, arguments: { workers: "{{ params.n }}" } }, many)).toBe("2 CPU, 4Gi");
    expect(resourcesOf(task, template({ worker: "{{ args.workers * 2 }}" }))).toBe("2 CPU, 4Gi");
  });

  it("has the task's own amounts before the template's, and no expressions", () => {
    expect(resourcesOf({ ...task, resources: { cpu: "500m" } }, template({ worker: 1 }))).toBe("500m CPU, 4Gi");
    expect(resourcesOf({ ...task, resources: { cpu: "{{ params.cpu }}" } }, template({ worker: 1 }))).toBe("4Gi");
    expect(resourcesOf({ ...task, resources: { cpu: 1 } }, undefined)).toBe("1 CPU");
    expect(resourcesOf(task, undefined)).toBe("");
  });

  it("names cards by their type, whole ones, parts and memory", () => {
    const gpu = (value: Record<string, string | number>) => resourcesOf({ ...task, resources: { gpu: value } }, template({ worker: 2 }, {}));
    expect(gpu({ count: 8, type: "H100" })).toBe("2 × 8 H100");
    expect(gpu({ fraction: 0.5 })).toBe("2 × 0.5 GPU");
    expect(gpu({ memory: "10Gi", type: "A100" })).toBe("2 × 10Gi A100");
  });
});

describe("how many instances a node tells", () => {
  it("is the length of the list, or all combinations", () => {
    expect(instancesOf({ ...task, for_each: { list: [1, 2, 3] } })).toBe("3");
    expect(instancesOf({ ...task, for_each: { matrix: { lr: [0.1, 0.2], seed: [1, 2, 3] } } })).toBe("6");
  });

  it("is n where only a run knows, and nothing without for_each", () => {
    expect(instancesOf({ ...task, for_each: { from: "tasks.b.outputs.parts" } })).toBe("n");
    expect(instancesOf({ ...task, for_each: { matrix: { lr: "{{ params.rates }}", seed: [1] } } })).toBe("n");
    expect(instancesOf(task)).toBeNull();
  });
});

it("a template that is not installed is told as the task names it", () => {
  expect(templateLabel({ name: "a", template: "mine@2.0.0" }, undefined)).toBe("mine@2.0.0");
});
