// The Gantt tab: the page contains the attempts, each with its preparation and its run time.

import { Gantt, type GanttBar, type GanttRow } from "../components/gantt";
import { need } from "../core/dom";
import { t } from "../core/texts";
import { rows, type Attempt } from "./bars";
import type { TaskPanel } from "./panel";
import { PathPart } from "./path";
import type { Tab } from "./tab";

/** Draws the chart; a task opens in the panel. */
export function open(run: string, panel: TaskPanel): Tab {
  let marked: ReadonlySet<string> = new Set();
  const gantt = new Gantt(need("#gantt"), {
    label: t("run.tab-gantt"),
    rows: read(marked),
    onOpen: (id) => { panel.open(id.split("#")[0] ?? id); },
  });
  const path = new PathPart(run, (tasks) => {
    marked = new Set(tasks.map(({ task, instance }) => `${task}#${instance}`));
    gantt.update(read(marked));
  });
  return {
    refreshed: () => {
      gantt.update(read(marked));
      path.refreshed();
    },
  };
}

/** The rows; those with these ids are marked. */
function read(marked: ReadonlySet<string>): GanttRow[] {
  const { bars, states } = JSON.parse(need("#gantt-data").dataset["gantt"] ?? "{}") as { bars: Attempt[]; states: Record<string, string> };
  return rows(bars, states).map((row) => ({
    ...row,
    mark: marked.has(row.id) ? t("run.path-on") : undefined,
    bars: row.bars.map((bar): GanttBar => ({
      from: bar.from,
      to: bar.to,
      state: bar.state,
      title: bar.ready ? t("run.gantt-ready", { n: bar.attempt }) : t("run.attempts", { n: bar.attempt }),
    })),
  }));
}
