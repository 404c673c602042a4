//! The page of one task of a run.

import { need } from "../core/dom";
import { live } from "../core/live";
import { paintTimes } from "../core/time";
import { watchActions } from "../run/actions";
import { watchAdvice } from "../run/advice";
import { Refresher, takeParts } from "../run/refresh";
import { watchUsage } from "../run/usage-part";

export function start(): void {
  const run = need("#task").dataset["run"] ?? "";
  const refresher = new Refresher((fresh) => {
    takeParts(fresh, ["task"]);
    paintTimes();
    watchAdvice();
  });
  const soon = (): void => { refresher.soon(); };
  watchActions(run, "", soon);
  watchUsage();
  watchAdvice();
  live(`/api/v1/runs/${run}/events`, { on: { run: soon, task: soon, snapshot: soon }, onReturn: soon });
}
