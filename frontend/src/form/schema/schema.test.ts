import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { Json } from "../../graph/document";
import { choiceOf, foreign, wayOf } from "./choose";
import { carryOver, fits, variantOf } from "./fits";
import type { Field } from "./kinds";
import { fieldsOf, kindOf, type ParameterSchema } from "./read";

// The shipped templates, all of which a form must support.
const texts = import.meta.glob<string>("../../../../task-templates/*/template.yaml", { query: "?raw", import: "default", eager: true });
const names = Object.keys(texts).map((path) => path.split("/").at(-2) ?? "");
const parameters = (name: string) => (parse(texts[`../../../../task-templates/${name}/template.yaml`] ?? "") as { parameters: ParameterSchema }).parameters;
const fields = (name: string) => fieldsOf(parameters(name));
const kinds = (all: readonly Field[]) => Object.fromEntries(all.map((field) => [field.name, field.kind]));

describe("the fields of a template", () => {
  test("are in the order that x-form gives, with titles, help, defaults and marks", () => {
    const found = fields("xgboost");
    expect(found.map((field) => field.name)).toEqual(["data", "label", "validation", "params", "rounds", "model", "checkpoint_every", "workers", "threads", "requirements"]);
    expect(found[0]).toMatchObject({ title: "Training data", required: true, default: undefined, placeholder: "train/*.npz" });
    expect(found[1]).toMatchObject({ required: false, default: "y" });
    expect(found[2]).toMatchObject({ default: null, kind: { type: "text" } });
  });

  test("are what the widget and the type ask for", () => {
    expect(kinds(fields("python"))).toEqual({
      script: { type: "file" },
      code: { type: "code" },
      args: { type: "list", item: { type: "scalar" }, placeholder: "" },
      requirements: { type: "list", item: { type: "text", long: false }, placeholder: "numpy==2.4.6" },
    });
    expect(kinds(fields("xgboost"))).toMatchObject({ params: { type: "yaml" }, rounds: { type: "number", integer: true, minimum: 1 } });
    expect(kinds(fields("transfer"))).toMatchObject({ parallel: { type: "number", integer: true, minimum: 1, maximum: 256 } });
  });

  test("have nested objects as fields of their own", () => {
    const elastic = kinds(fields("pytorch"))["elastic"];
    expect(elastic?.type === "object" && elastic.fields.map((field) => [field.name, field.title, field.required])).toEqual([["min", "At least", true], ["max", "At most", true]]);
  });

  test("that may be written in several ways begin with the one that the widget names", () => {
    const { from, sha256 } = kinds(fields("transfer"));
    expect(from).toEqual({ type: "variants", variants: [
      { name: "array", kind: { type: "list", item: { type: "text", long: false }, placeholder: "s3://bucket/data/" } },
      { name: "string", kind: { type: "text", long: false } },
    ] });
    expect(sha256?.type === "variants" && sha256.variants.map((variant) => [variant.name, variant.kind.type])).toEqual([["string", "text"], ["object", "map"]]);
    expect(sha256?.type === "variants" && variantOf(sha256.variants, { "a.csv": "00" })?.name).toBe("object");
  });

  test("of every installed template can show its defaults and write them back", () => {
    const bad = names.flatMap((name) => fields(name).filter((field) => !fits(field.kind, field.default)).map((field) => `${name}.${field.name}`));
    expect(names.length).toBeGreaterThan(5);
    expect(bad).toEqual([]);
  });

  test("what no field knows is YAML", () => {
    expect(kindOf({}).type).toBe("yaml");
    expect(kindOf({ type: "array" }).type).toBe("yaml");
    expect(kindOf({ type: "object" }).type).toBe("yaml");
    expect(kindOf({ enum: ["a", "b", null] })).toEqual({ type: "choice", options: ["a", "b"] });
    expect(kindOf({ type: "integer", exclusiveMinimum: 0 })).toEqual({ type: "number", integer: true, minimum: 1 });
  });
});

describe("arguments of which one must be given", () => {
  const choice = choiceOf(parameters("python"));

  test("are known by oneOf over required", () => {
    expect(choice).toEqual({ exactly: true, ways: [["script"], ["code"]] });
    expect(choiceOf(parameters("transfer"))).toEqual({ exactly: false, ways: [["from"], ["manifest"]] });
    expect(choiceOf(parameters("xgboost"))).toBeNull();
  });

  test("are taken as they are given", () => {
    expect(choice && wayOf(choice, { code: "print()" })).toBe(1);
    expect(choice && wayOf(choice, { script: null, code: "print()" })).toBe(1);
    expect(choice && wayOf(choice, {})).toBe(-1);
    expect(choice && foreign(choice, 0)).toEqual(["code"]);
  });
});

describe("values", () => {
  test("fit where they can be written back as they are, and expressions fit everywhere", () => {
    const { rounds, params } = kinds(fields("xgboost"));
    expect(rounds && [12, "{{ params.rounds }}", undefined, null].every((value) => fits(rounds, value))).toBe(true);
    expect(rounds && [1.5, "twelve", true, [], {}].some((value: Json) => fits(rounds, value))).toBe(false);
    expect(params && fits(params, { eta: 0.3 })).toBe(true);
  });

  test("are taken over by another template when they fit there", () => {
    const given = { script: "train.py", args: ["--rounds", 3], requirements: ["numpy"], code: "print()", workers: 2 };
    expect(carryOver(given, fields("indexed"))).toEqual({ kept: { script: "train.py", args: ["--rounds", 3], requirements: ["numpy"], workers: 2 }, left: ["code"] });
    expect(carryOver({ workers: "many" }, fields("indexed")).left).toEqual(["workers"]);
  });
});
