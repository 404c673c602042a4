// The Dockerfile of each built-in template: there is one where the template names an image of ours, it copies what is there,
// and it installs the versions that the template uses on this machine.

import { existsSync, readFileSync, readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";

interface Template {
  readonly image?: string;
  /** The requirements are a list, or the argument of that name, which has a default. */
  readonly local?: { readonly python?: { readonly requirements?: unknown } };
  readonly parameters: { readonly properties?: Readonly<Record<string, { readonly default?: unknown }>> };
}

const folder = new URL("../../task-templates/", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, folder), "utf8");

test.each(readdirSync(folder))("the image of %s is made of what the template needs", (name) => {
  const template = parse(read(`${name}/template.yaml`)) as Template;
  const here = existsSync(new URL(`${name}/Dockerfile`, folder));
  expect(here).toBe(template.image?.startsWith("ghcr.io/cubeloom/") ?? false);
  if (!here) return;
  const dockerfile = read(`${name}/Dockerfile`).replaceAll("\\\n", " ");
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.*)$/gm)].flatMap(([, words = ""]) => words.trim().split(/\s+/).slice(0, -1));
  expect(copied.filter((path) => !existsSync(new URL(path, folder)))).toEqual([]);
  const pins = JSON.stringify([template.local?.python?.requirements, template.parameters.properties?.requirements?.default]).match(/[\w.-]+(?:\[\w+\])?==[\d.]+/g) ?? [];
  // Or the image that it is made from is of that version.
  const base = /^FROM .*:(\S+)/m.exec(dockerfile)?.[1] ?? "";
  expect(pins.filter((pin) => !dockerfile.includes(pin) && !base.startsWith(`${pin.split("==")[1] ?? ""}-`))).toEqual([]);
});
