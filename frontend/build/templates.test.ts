// Every argument of the built-in templates has its words in both languages.

import { readFileSync, readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";

interface Property {
  readonly title?: string;
  readonly description?: string;
  readonly properties?: Record<string, Property>;
  readonly "x-form"?: { readonly zh?: { readonly title?: string; readonly help?: string } };
}

const folder = new URL("../../task-templates/", import.meta.url);
const CHINESE = /\p{Script=Han}/u;

function missing(properties: Record<string, Property>, path: string): string[] {
  return Object.entries(properties).flatMap(([name, property]) => {
    const { title = "", help = "" } = property["x-form"]?.zh ?? {};
    const here = `${path}/${name}`;
    return [
      ...(property.title === undefined ? [`${here}: title`] : []),
      ...(CHINESE.test(title) ? [] : [`${here}: x-form.zh.title`]),
      ...(property.description === undefined || CHINESE.test(help) ? [] : [`${here}: x-form.zh.help`]),
      ...missing(property.properties ?? {}, here),
    ];
  });
}

test.each(readdirSync(folder))("the arguments of %s have titles and help in Chinese too", (name) => {
  const { parameters } = parse(readFileSync(new URL(`${name}/template.yaml`, folder), "utf8")) as { parameters: Property };
  expect(Object.keys(parameters.properties ?? {}).length).toBeGreaterThan(0);
  expect(missing(parameters.properties ?? {}, name)).toEqual([]);
});
