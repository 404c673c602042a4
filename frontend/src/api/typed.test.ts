//! What `tsc` checks: a call is typed by the path as it is written.

import { expect, expectTypeOf, test } from "vitest";

import type { Answered, Body, Known, Page, Schema } from "./typed";

test("calls are typed by the OpenAPI document", () => {
  type Runs = Answered<"GET", `/projects/${string}/runs?pipeline=${string}&limit=8`>;
  expectTypeOf<Runs>().toExtend<Page<Schema<"RunView">>>();
  expectTypeOf<Answered<"GET", `/runs/${string}`>["state"]>().toEqualTypeOf<string>();
  expectTypeOf<Body<"PATCH", "/me">>().toHaveProperty("display_name");
  // Neither a path that does not exist nor a method that it does not have.
  expectTypeOf<Known<"GET", `/runs/${string}/metric`>>().toBeNever();
  expectTypeOf<Known<"PUT", `/runs/${string}/metrics`>>().toBeNever();
  // A path that is only known while the script runs can be anything.
  expectTypeOf<Known<"GET", string>>().toEqualTypeOf<string>();
  expectTypeOf<Answered<"GET", string>>().toBeUnknown();
  expect(true).toBe(true);
});
