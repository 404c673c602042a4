//! Explanations of keys on hover.

import { hoverTooltip, type Tooltip } from "@codemirror/view";
import type { Extension } from "@codemirror/state";
import { h } from "../core/dom";
import { t } from "../core/texts";
import { local, type Knowledge } from "../api/knowledge";
import { schemasAt, templateOf } from "./knowledge";
import { outline } from "./outline";
import { typeOf } from "../graph/schema";

/** Explains keys, and the names of templates. */
export function explaining(knowledge: Knowledge): Extension {
  return hoverTooltip((view, position): Tooltip | null => {
    const text = view.state.doc.toString();
    const line = view.state.doc.lineAt(position);
    const entries = outline(text);
    const entry = entries.find((one) => one.line === line.number - 1);
    if (!entry) return null;
    const key = String(entry.path.at(-1));
    const from = line.text.indexOf(key);
    const column = position - line.from;
    const onValue = key === "template" && column > from + key.length;
    if (from < 0 || (!onValue && (column < from || column > from + key.length))) return null;
    const body = onValue ? aboutTemplate(knowledge, entries, entry.path) : aboutKey(knowledge, entries, entry.path);
    if (!body) return null;
    return { pos: line.from + from, end: line.to, above: true, create: () => ({ dom: body }) };
  });
}

function aboutTemplate(knowledge: Knowledge, entries: ReturnType<typeof outline>, path: (string | number)[]): HTMLElement | null {
  const task = path[1];
  const template = typeof task === "number" ? templateOf(knowledge, entries, task) : undefined;
  if (!template) return null;
  const head = h("strong", {}, `${local(template.label)} ${template.version}`);
  return h("div", { class: "editor-hint" }, head, h("p", {}, local(template.help).split("\n\n")[0]));
}

function aboutKey(knowledge: Knowledge, entries: ReturnType<typeof outline>, path: (string | number)[]): HTMLElement | null {
  const schemas = schemasAt(knowledge, entries, path);
  const first = schemas[0];
  if (!first) return null;
  const usual = first.default === undefined || first.default === null ? null : h("p", { class: "faint" }, t("pipeline.default", { value: JSON.stringify(first.default) }));
  const head = h("p", {}, h("strong", {}, String(path.at(-1))), " ", h("span", { class: "faint mono" }, typeOf(schemas)));
  return h("div", { class: "editor-hint" }, head, h("p", {}, first.description ?? first.title ?? ""), usual);
}
