import { expect, it } from "vitest";
import type { TaskOutlook } from "../editor/outlook";
import { outlookMark } from "./outlook";

const task: TaskOutlook = { task: "train", outlook: "never", shortages: [], holders: [], more_holders: 0, hidden_holders: 0 };

it("tells what would be refused from what no place could hold", () => {
  for (const rule of ["not_taken", "budget"]) {
    expect(outlookMark({ ...task, rule, message: "why" })).toEqual({ outlook: "never", icon: "error", word: "canvas.outlook-not-taken", why: ["why"] });
  }
  for (const rule of ["never_fits", null]) {
    expect(outlookMark({ ...task, rule })?.word).toBe("canvas.outlook-never");
  }
});
