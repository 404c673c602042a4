//! Checked by `tsc`: a literal path determines a call's types.

import { expect, expectTypeOf, test } from "vitest";

import type { Answered, Body, Known, Page, Schema } from "./typed";

test("calls are typed by the OpenAPI document", () => {
  type Runs = Answered<"GET", `/projects/${string}/runs?pipeline=${string}&limit=8`>;
  expectTypeOf<Runs>().toExtend<Page<Schema<"RunView">>>();
  expectTypeOf<Answered<"GET", `/runs/${string}`>["state"]>().toEqualTypeOf<string>();
  expectTypeOf<Body<"PATCH", "/me">>().toHaveProperty("display_name");
  // Unknown paths and unsupported methods are errors.
  expectTypeOf<Known<"GET", `/runs/${string}/metric`>>().toBeNever();
  expectTypeOf<Known<"PUT", `/runs/${string}/metrics`>>().toBeNever();
  // A path computed at run time can be anything.
  expectTypeOf<Known<"GET", string>>().toEqualTypeOf<string>();
  expectTypeOf<Answered<"GET", string>>().toBeUnknown();
  expect(true).toBe(true);
});
