import { expect, test } from "vitest";
import { rootOf } from "./file-places";

const volume = { name: "data", place: { kind: "folder" }, built_in: false, browsable: true };

test("a path into a volume begins where the task has it, else in the project's folder, else nowhere", () => {
  const use = { name: "data", mount: "/mnt/data/", readOnly: false };
  expect(rootOf(volume, [use])).toBe("/mnt/data");
  expect(rootOf(volume, [{ ...use, mount: "" }])).toBeNull();
  expect(rootOf({ ...volume, place: { kind: "workspace", path: "sets/a" } }, [])).toBe("{{ workspace }}/sets/a");
  expect(rootOf({ ...volume, name: "workspace", place: { kind: "workspace", path: "" }, built_in: true }, [])).toBe("{{ workspace }}");
});
