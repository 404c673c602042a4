import { expect, test, vi } from "vitest";

import { amountOf, plainAmount } from "./amount";
import { loadTexts } from "./texts";

test("amounts are told with what they are of", async () => {
  vi.stubGlobal("document", { documentElement: { lang: "en" } });
  await loadTexts();
  expect([["cpu", 7], ["cpu", 0.1 + 0.2], ["gpus", 1], ["gpus", 8], ["gpus/H100", 2], ["memory", 2 ** 31], ["pods", 3], ["runs", 1]]
    .map(([resource, amount]) => amountOf(String(resource), Number(amount))))
    .toEqual(["7 CPU", "0.3 CPU", "1 GPU", "8 GPUs", "2 H100 GPUs", "2.0 GiB of memory", "3 workers", "1 run"]);
  expect(plainAmount("memory", 1536)).toBe("1.5 KiB");
});
