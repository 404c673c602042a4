import { expect, test } from "vitest";

import { withValues } from "./texts";

test("one is not many", () => {
  const of = (n: number): string => withValues("{n} {n|error|errors} in {file}, {other}", { n, file: "a}b" });
  expect(of(1)).toBe("1 error in a}b, {other}");
  expect(of(0)).toBe("0 errors in a}b, {other}");
  expect(of(21)).toBe("21 errors in a}b, {other}");
});
