import { expect, test } from "vitest";

import { chain } from "./path";

test("a long path is shortened in the middle", () => {
  expect(chain(["pull", "train", "evaluate"])).toBe("pull → train → evaluate");
  expect(chain(["a", "b", "c", "d", "e", "f", "g"])).toBe("a → b → c → … → e → f → g");
});
