import { expect, test } from "vitest";
import type { Problem } from "../api/problem";
import { joined } from "./joined";

const problem = (code: string, path: string, message = code): Problem => ({ severity: "error", code, path, message });

test("what both find is told once, in the server's words", () => {
  const server = [problem("cycle", "/tasks/1/needs/0", "the server's words")];
  const own = [problem("cycle", "/tasks/1/needs/0"), problem("unknown_task", "/tasks/0/needs/0")];
  expect(joined(server, own, own).map(({ message }) => message)).toEqual(["the server's words", "unknown_task"]);
});

test("what the browser sees to be mended goes at once; what only the server can see stays until it answers", () => {
  const server = [problem("missing_key", "/tasks/0"), problem("too_large", "/tasks/0/resources/memory")];
  expect(joined(server, [], [problem("missing_key", "/tasks/0")]).map(({ code }) => code)).toEqual(["too_large"]);
});
