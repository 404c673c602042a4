import { expect, test } from "vitest";
import cases from "../../../tests/shared-cases/cron.json";
import { readCron } from "./cron";

interface Case {
  cron: string;
  /** The wrong field, or `fields` if there are not five. */
  wrong?: string;
  /** An expression with the same dates. */
  same?: string;
}

// The server reads the same cases.
test.each(cases as Case[])("$cron", ({ cron, wrong, same }) => {
  const read = readCron(cron);
  if (wrong === undefined) expect({ ...read, both: false }).toEqual({ ...readCron(same ?? cron), both: false });
  else expect("kind" in read && read.kind === "field" ? read.field : "fields").toBe(wrong);
});
