//! A form for the typed parameters of a run.

import { h } from "../core/dom";
import { t } from "../core/texts";

/** A declared parameter. */
export interface Parameter {
  type: "string" | "integer" | "number" | "boolean" | "date" | "list" | "object";
  default?: unknown;
  description?: string;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
}

export type Parameters = Record<string, Parameter>;

const isExpression = (value: unknown): boolean => typeof value === "string" && value.includes("{{");

function written(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The fields, in document order; `given` overrides the defaults. */
export function fields(parameters: Parameters, given: Record<string, unknown> = {}): HTMLElement[] {
  return Object.entries(parameters).map(([name, parameter]) => {
    const id = `p-${name}`;
    const help = [parameter.description, bounds(parameter)].filter(Boolean).join(" ");
    const input = control(parameter, given[name] ?? parameter.default);
    input.id = id;
    input.setAttribute("name", name);
    if (help) input.setAttribute("aria-describedby", `h-${id}`);
    const needed = parameter.default === undefined ? h("span", { class: "tag accent" }, t("pipeline.required")) : null;
    const label = h("label", { for: id }, h("span", { class: "mono" }, name), " ", h("span", { class: "faint" }, parameter.type), " ", needed);
    return h("div", { class: "field", "data-field": name }, label, input, help ? h("p", { class: "field-help", id: `h-${id}` }, help) : null);
  });
}

function bounds({ minimum, maximum }: Parameter): string {
  if (minimum !== undefined && maximum !== undefined) return t("pipeline.between", { minimum, maximum });
  if (minimum !== undefined) return t("pipeline.at-least", { minimum });
  return maximum === undefined ? "" : t("pipeline.at-most", { maximum });
}

function control(parameter: Parameter, value: unknown): HTMLElement {
  if (parameter.enum) {
    return h("select", { class: "input" }, ...parameter.enum.map((choice) => h("option", { value: written(choice), selected: written(choice) === written(value) }, written(choice))));
  }
  if (parameter.type === "boolean") {
    return h("select", { class: "input" }, ...["true", "false"].map((word) => h("option", { value: word, selected: word === written(value ?? false) }, word)));
  }
  if (parameter.type === "list" || parameter.type === "object") {
    const area = h("textarea", { class: "input mono", rows: 3, placeholder: parameter.type === "list" ? "[1, 2]" : '{"a": 1}' });
    area.value = value === undefined ? "" : JSON.stringify(value);
    return area;
  }
  const expression = isExpression(value);
  const attributes = { class: "input", autocomplete: "off", placeholder: expression ? written(value) : "" };
  const shown = expression ? "" : written(value);
  if (parameter.type === "date") return h("input", { ...attributes, type: "date", value: shown });
  if (parameter.type === "string") return h("input", { ...attributes, type: "text", value: shown });
  return h("input", { ...attributes, type: "text", inputmode: parameter.type === "integer" ? "numeric" : "decimal", value: shown });
}

/** The values that differ from the defaults, for the API, which parses texts by the declared types. */
export function chosen(parameters: Parameters, data: FormData): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [name, parameter] of Object.entries(parameters)) {
    const value = data.get(name);
    if (typeof value !== "string") continue;
    const usual = isExpression(parameter.default) ? "" : written(parameter.default);
    if (value !== usual && !(value === "" && parameter.default !== undefined && parameter.type !== "string")) found[name] = value;
  }
  return found;
}
