//! The graph of a pipeline, and the details of the selected task.

import { Dag } from "../components/dag";
import { h, need } from "../core/dom";
import { t } from "../core/texts";

/** A task, as in `/validate`. */
export interface CheckedTask {
  name: string;
  template: string;
  needs: string[];
  description?: string;
  for_each: boolean;
}

/** Draws the graph into its box; `address` is the base URL of its tasks' pages. */
export function drawGraph(box: HTMLElement, tasks: CheckedTask[], address: string): void {
  const known = new Set(tasks.map((task) => task.name));
  const nodes = tasks.map((task) => ({ id: task.name, label: task.name, sub: task.for_each ? `${task.template} ×` : task.template }));
  const edges = tasks.flatMap((task) => task.needs.filter((need) => known.has(need)).map((from) => ({ from, to: task.name })));
  new Dag(box, { nodes, edges, label: t("pipeline.graph"), onSelect: (id) => { tell(tasks, id, address); } });
}

function tell(tasks: CheckedTask[], id: string | null, address: string): void {
  const task = tasks.find((one) => one.name === id);
  const body = need("#task-body");
  if (!task) {
    body.replaceChildren(h("p", { class: "muted" }, t("pipeline.task-hint")));
    return;
  }
  const template = task.template.split("@")[0] ?? task.template;
  const after = tasks.filter((other) => other.needs.includes(task.name)).map((other) => other.name);
  const rows: [string, Node | string][] = [
    [t("pipeline.template"), h("a", { href: `/templates/${template}` }, task.template)],
    [t("pipeline.needs"), task.needs.join(", ") || "–"],
    [t("pipeline.needed-by"), after.join(", ") || "–"],
    [t("sizing.title"), h("a", { href: `${address}/tasks/${task.name}/sizing` }, t("pipeline.to-sizing"))],
  ];
  const list = h("dl", { class: "kv" }, ...rows.flatMap(([term, value]) => [h("dt", {}, term), h("dd", {}, value)]));
  body.replaceChildren(h("h3", { class: "mono" }, task.name), h("p", { class: "muted" }, task.description ?? ""), list);
}
