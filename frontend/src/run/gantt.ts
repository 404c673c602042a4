// The Gantt tab: the page contains the attempts, each with its preparation and its run time.

import { Gantt, type GanttBar, type GanttRow } from "../components/gantt";
import { need } from "../core/dom";
import { t } from "../core/texts";
import { rows, type Attempt } from "./bars";
import type { TaskPanel } from "./panel";
import type { Tab } from "./tab";

/** Draws the chart; a task opens in the panel. */
export function open(_run: string, panel: TaskPanel): Tab {
  const gantt = new Gantt(need("#gantt"), {
    label: t("run.tab-gantt"),
    rows: read(),
    onOpen: (id) => { panel.open(id.split("#")[0] ?? id); },
  });
  return { refreshed: () => { gantt.update(read()); } };
}

function read(): GanttRow[] {
  const { bars, states } = JSON.parse(need("#gantt-data").dataset["gantt"] ?? "{}") as { bars: Attempt[]; states: Record<string, string> };
  return rows(bars, states).map((row) => ({
    ...row,
    bars: row.bars.map((bar): GanttBar => ({
      from: bar.from,
      to: bar.to,
      state: bar.state,
      title: bar.ready ? t("run.gantt-ready", { n: bar.attempt }) : t("run.attempts", { n: bar.attempt }),
    })),
  }));
}
