//! The plots of a GPU history, which are updated in place.

import { Plot } from "../components/plot";
import type { PlotOptions, PlotSeries } from "../components/plot";
import { h } from "../core/dom";
import { t } from "../core/texts";
import { areas, known, times } from "./gpu-data";
import type { History } from "./gpu-data";

type Picture = Pick<PlotOptions, "title" | "series" | "stacked" | "unit">;

const TITLES: Record<string, string> = {
  project: /* text */ "monitoring.gpus-by-project",
  user: /* text */ "monitoring.gpus-by-user",
  task: /* text */ "monitoring.gpus-by-task",
  model: /* text */ "monitoring.gpus-by-model",
  node_group: /* text */ "monitoring.gpus-by-node_group",
};

/** The plots; a selection in one of them calls `zoomed`. */
export class GpuPlots {
  readonly element = h("div", { class: "card-plots" });
  readonly #plots = new Map<string, { plot: Plot; box: HTMLElement }>();
  readonly #zoomed: (from: number, until: number) => void;

  constructor(zoomed: (from: number, until: number) => void) {
    this.#zoomed = zoomed;
  }

  show(totals: History, grouped: History, by: string): void {
    const pictures = [...ofTotals(totals), { title: t(/* text */ TITLES[by] ?? by), series: areas(grouped, by), stacked: true }, ...ofQueue(totals)];
    const shown = pictures.filter(({ series }) => series.length > 0);
    const titles = shown.map(({ title }) => title);
    for (const [title, { plot, box }] of this.#plots) {
      if (titles.includes(title)) continue;
      plot.destroy();
      box.remove();
      this.#plots.delete(title);
    }
    for (const picture of shown) this.#put(picture);
    const boxes = titles.flatMap((title) => this.#plots.get(title)?.box ?? []);
    // Only if the order changed: a moved element loses the focus.
    if (boxes.some((box, at) => box !== this.element.children[at])) this.element.append(...boxes);
  }

  #put(picture: Picture): void {
    const present = this.#plots.get(picture.title);
    if (present) {
      present.plot.update(picture.series);
      return;
    }
    const box = h("div", { class: "card padded" });
    this.element.append(box);
    this.#plots.set(picture.title, { box, plot: new Plot(box, { ...picture, axis: "time", height: 200, gaps: true, least: 0, zoomed: this.#zoomed }) });
  }
}

/** A line, unless nothing of it is known. */
function line(history: History, label: string, y: (number | null)[], dashed = false): PlotSeries[] {
  return known(y) ? [{ label, x: times(history), y, dashed }] : [];
}

function ofTotals(history: History): Picture[] {
  const lines = [
    ...line(history, t("monitoring.allocated"), history.allocated),
    ...line(history, t("monitoring.used"), history.used),
    ...line(history, t("monitoring.total"), history.total, true),
  ];
  return [{ title: t("monitoring.gpus-over"), series: lines }];
}

function ofQueue(history: History): Picture[] {
  const minutes = history.oldest_wait_seconds.map((seconds) => (seconds === null ? null : seconds / 60));
  return [
    { title: t("monitoring.queue-over"), series: [...line(history, t("monitoring.pending-gpus"), history.pending_gpus), ...line(history, t("monitoring.pending-jobs"), history.pending_jobs)] },
    { title: t("monitoring.wait-over"), unit: t("plot.minutes"), series: line(history, t("monitoring.oldest-wait"), minutes) },
    { title: t("monitoring.total-power-over"), unit: "W", series: line(history, t("monitoring.power"), history.power) },
  ];
}
