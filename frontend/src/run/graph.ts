// The graph tab: the page contains its tasks and edges, with their live states.

import { need } from "../core/dom";
import { t } from "../core/texts";
import { Dag, type DagNode } from "../components/dag";
import type { TaskPanel } from "./panel";
import { PathPart } from "./path";
import type { Tab } from "./tab";

interface Graph {
  nodes: { id: string; template: string; for_each: boolean }[];
  edges: { from: string; to: string }[];
}

type States = Record<string, { state: string; done?: number; total?: number; tally?: string }>;

/** Draws the graph; a task opens in the panel. */
export function open(run: string, panel: TaskPanel): Tab {
  const graph = JSON.parse(need("#graph-data").dataset["graph"] ?? "") as Graph;
  const first = states();
  const nodes = graph.nodes.map(({ id, template }): DagNode => ({ id, label: id, ...shown(template, first[id]) }));
  const dag = new Dag(need("#graph"), {
    nodes,
    edges: graph.edges,
    label: t("run.tab-graph"),
    onSelect: (id) => {
      if (id !== null && panel.isOpen) panel.open(id, false);
    },
    onOpen: (id) => { panel.open(id); },
  });
  const path = new PathPart(run, (tasks) => { dag.highlight(tasks.map(({ task }) => task), t("run.path-on")); });
  return {
    refreshed: () => {
      const now = states();
      dag.update(graph.nodes.map(({ id, template }) => ({ id, ...shown(template, now[id]) })));
      path.refreshed();
    },
  };
}

function states(): States {
  return JSON.parse(need("#graph-states").dataset["states"] ?? "{}") as States;
}

/** A node's second line, its state, and its progress. */
function shown(template: string, of: States[string] | undefined): Omit<DagNode, "id" | "label"> {
  const { done, total, tally } = of ?? {};
  const several = total !== undefined && total > 0;
  return {
    // The number of failures must not be truncated.
    sub: several ? `${tally ?? ""} · ${template}` : template,
    state: of?.state,
    progress: several ? (done ?? 0) / total : undefined,
  };
}
