//! One run: its head, its current tab, and a task panel, live.

import { need } from "../core/dom";
import { live } from "../core/live";
import { t } from "../core/texts";
import { paintTimes } from "../core/time";
import { toast } from "../core/toast";
import { watchActions } from "../run/actions";
import { watchChoices } from "../run/choices";
import { TaskPanel } from "../run/panel";
import { Refresher, takeParts } from "../run/refresh";
import type { Tab } from "../run/tab";
import { watchUsage } from "../run/usage-part";

// Each tab's script is loaded on demand.
const tabs: Record<string, () => Promise<{ open: (run: string, panel: TaskPanel) => Tab | undefined }>> = {
  graph: () => import("../run/graph"),
  gantt: () => import("../run/gantt"),
  logs: () => import("../run/logs"),
  outputs: () => import("../run/outputs"),
  files: () => import("../run/files"),
  metrics: () => import("../run/metrics"),
};

export async function start(): Promise<void> {
  const page = need("#run");
  const run = page.dataset["run"] ?? "";
  const panel = new TaskPanel(run);
  watchChoices();
  watchUsage();
  const tab = (await tabs[page.dataset["tab"] ?? ""]?.())?.open(run, panel);
  const refresher = new Refresher((fresh) => {
    takeParts(fresh, ["run-head", "run-need", "run-effective", "run-tab"]);
    paintTimes(page);
    tab?.refreshed();
    panel.refresh();
  });
  const soon = (): void => { refresher.soon(); };
  watchActions(run, page.dataset["project"] ?? "", soon);
  const gone = (): void => { toast(t("run.deleted"), "error"); };
  live(`/api/v1/runs/${run}/events`, { on: { run: soon, task: soon, snapshot: soon, deleted: gone }, onReturn: soon });
}
