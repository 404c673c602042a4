// The metrics tab: a live plot for each name.

import { request } from "../api/client";
import { Plot } from "../components/plot";
import { h, need } from "../core/dom";
import { trying } from "../core/form";
import { t } from "../core/texts";
import { plots, type Line, type Series } from "./series";
import type { Tab } from "./tab";

export function open(run: string): Tab {
  const box = new Plots(need("#metrics"));
  let busy = false;
  const read = (): void => {
    if (busy) return;
    busy = true;
    void trying(async () => {
      const { data } = await request("GET", `/runs/${run}/metrics`);
      box.show(plots(data.series as unknown as Series[]));
      need("#metrics-none").hidden = data.series.length > 0;
      need("#metrics-more").hidden = !data.truncated;
    }).finally(() => { busy = false; });
  };
  read();
  return { refreshed: read };
}

/** Values that a plot cannot show: NaN and infinities. */
function notes(lines: readonly Line[]): string {
  const shown = lines.filter((line) => line.notFinite !== undefined);
  return shown.map(({ label, notFinite }) => t("run.not-finite", { line: label, value: notFinite?.value ?? "", step: notFinite?.step ?? 0, n: notFinite?.count ?? 0 })).join(" ");
}

/** Plots by name, updated in place. */
export class Plots {
  readonly #box: HTMLElement;
  readonly #drawn = new Map<string, { plot: Plot; note: HTMLElement }>();

  constructor(box: HTMLElement) {
    this.#box = box;
  }

  /** Shows these lines. */
  show(wanted: Map<string, Line[]>): void {
    for (const [name, lines] of wanted) {
      const known = this.#drawn.get(name);
      if (known !== undefined) {
        known.plot.update(lines);
        known.note.textContent = notes(lines);
        continue;
      }
      const place = h("div", { class: "card padded" });
      const note = h("p", { class: "plot-note" }, notes(lines));
      this.#box.append(h("div", {}, place, note));
      this.#drawn.set(name, { plot: new Plot(place, { title: name, series: lines, metric: true }), note });
    }
  }
}
