import { describe, expect, test } from "vitest";
import source from "./tokens.css?raw";

/** The value of a token in a theme, as #rrggbb. */
function token(name: string, theme: "light" | "dark"): string {
  const both = new RegExp(`--${name}: (?:light-dark\\((#[0-9a-f]{6}), (#[0-9a-f]{6})\\)|(#[0-9a-f]{6}));`).exec(source);
  const value = both?.[3] ?? both?.[theme === "light" ? 1 : 2];
  if (!value) throw new Error(`tokens.css has no colour --${name}`);
  return value;
}

/** The contrast ratio of two colours according to WCAG 2.2. */
function contrast(a: string, b: string): number {
  const luminance = (colour: string) => {
    const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
      const part = parseInt(colour.slice(at, at + 2), 16) / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [high = 0, low = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}

const STATES = [...source.matchAll(/--state-([a-z-]+?):/g)].map((match) => match[1] ?? "").filter((name) => !name.endsWith("-tint"));

describe.each(["light", "dark"] as const)("in the %s theme", (theme) => {
  const ratio = (front: string, back: string) => contrast(token(front, theme), token(back, theme));

  test.each(["text", "text-muted", "text-faint", "accent-text", "danger-text"])("--%s can be read on every ground", (name) => {
    for (const ground of ["bg", "surface", "raised", "sunken", "hover"]) {
      expect(ratio(name, ground), ground).toBeGreaterThanOrEqual(4.5);
    }
  });

  test.each(STATES)("the state %s can be read on its tint, and its sign seen on a surface", (state) => {
    expect(ratio(`state-${state}`, `state-${state}-tint`)).toBeGreaterThanOrEqual(4.5);
    expect(ratio(`state-${state}`, "surface")).toBeGreaterThanOrEqual(3);
    expect(ratio("text", `state-${state}-tint`)).toBeGreaterThanOrEqual(4.5);
  });

  test.each(["accent", "info", "warning", "danger", "good"])("the words of %s can be read on its tint", (name) => {
    expect(ratio(`${name}-text`, `${name}-tint`)).toBeGreaterThanOrEqual(4.5);
  });

  test("words on full colour, and the borders of controls", () => {
    for (const ground of ["accent", "accent-hover", "danger", "danger-hover"]) expect(ratio("on-accent", ground), ground).toBeGreaterThanOrEqual(4.5);
    expect(ratio("text-muted", "info-tint")).toBeGreaterThanOrEqual(4.5);
    expect(ratio("control-border", "surface")).toBeGreaterThanOrEqual(3);
    expect(ratio("focus", "bg")).toBeGreaterThanOrEqual(3);
  });

  test.each([1, 2, 3, 4, 5, 6])("line %i of a plot is seen", (index) => {
    expect(ratio(`series-${index}`, "surface")).toBeGreaterThanOrEqual(3);
  });
});
