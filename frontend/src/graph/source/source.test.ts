import { expect, test } from "vitest";
import cases from "../../../../tests/shared-cases/source-problems.json";
import { check } from "../check";
import { SourceText } from "../text";

interface Expected {
  code: string;
  path: string;
  line: number;
}

test.each(cases)("$title", ({ text, problems }) => {
  const { document, problems: found } = SourceText.parse(text);
  expect(found.map(({ code, path, line }) => `${code} ${path} ${String(line)}`).sort()).toEqual((problems as Expected[]).map(({ code, path, line }) => `${code} ${path} ${String(line)}`).sort());
  if (document) expect(check(document, null)).toEqual([]);
});
