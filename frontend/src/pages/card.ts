//! One GPU: its state, its users, its last hour, and advice.

import { request } from "../api/client";
import { Plot } from "../components/plot";
import type { PlotOptions, PlotSeries } from "../components/plot";
import { h, need } from "../core/dom";
import { t } from "../core/texts";
import { advised, type Advice } from "../monitoring/advised";
import { keepTrue, missing } from "../monitoring/data";
import type { Detail } from "../monitoring/data";
import { called, facts } from "../monitoring/show";

/** A plot: its title, and its lines with the factor that converts their values to its unit. */
interface Picture {
  title: string;
  unit: string;
  lines: [of: string, label: string, factor: number][];
}

function pictures(): Picture[] {
  return [
    { title: t("monitoring.work"), unit: "%", lines: [["usage", t("monitoring.usage"), 100], ["tensor", t("monitoring.tensor"), 100], ["node_cpu", t("monitoring.node-cpu"), 100], ["io_wait", t("monitoring.io-wait"), 100]] },
    { title: t("monitoring.memory-over"), unit: "GiB", lines: [["memory", t("monitoring.memory"), 1 / 2 ** 30]] },
    { title: t("monitoring.power-over"), unit: "W", lines: [["power", t("monitoring.power"), 1]] },
    { title: t("monitoring.temperature-over"), unit: "°C", lines: [["temperature", t("monitoring.temperature"), 1]] },
    { title: t("monitoring.nvlink-over"), unit: "GB/s", lines: [["nvlink", t("monitoring.nvlink"), 1e-9]] },
    { title: t("monitoring.holder-cpu-over"), unit: t("plot.cores"), lines: [["holder_cpu", t("monitoring.holder-cpu"), 1]] },
  ];
}

export async function start(): Promise<void> {
  const place = need("#monitoring");
  const [cluster, card] = [place.dataset["cluster"] ?? "", place.dataset["card"] ?? ""];
  const about = h("div", { class: "card-about" });
  const hour = new Hour();
  const load = async () => (await request("GET", `/clusters/${cluster}/gpus/${encodeURIComponent(card)}`)).data;
  await keepTrue(load, (found) => {
    if (!about.isConnected) place.replaceChildren(about, hour.element);
    need("#card-name").textContent = `${found.node} · ${called(found)}`;
    const parts = [missing(found.problems), h("section", { class: "card padded" }, h("p", { class: "muted small" }, found.model), facts(found)), advised(found.advice, toTask)];
    about.replaceChildren(...parts.filter((one) => one !== null));
    hour.show(found);
  });
}

/** The plots of the last hour, which are updated in place. */
class Hour {
  readonly #plots = new Map<string, Plot>();
  readonly #grid = h("div", { class: "card-plots" });
  readonly #none = h("p", { class: "muted" }, t("monitoring.no-history"));
  readonly element = h("section", { class: "section", "aria-labelledby": "hour" }, h("div", { class: "section-head" }, h("h2", { id: "hour" }, t("monitoring.hour"))), this.#none, this.#grid);

  show({ history: { start, step, series } }: Detail): void {
    for (const { title, unit, lines } of pictures()) {
      const found = lines.flatMap(([of, label, factor]): PlotSeries[] => {
        const values = series.find((one) => one.of === of)?.values;
        return values ? [{ label, x: values.map((_, at) => start + at * step), y: values.map((value) => (value == null ? null : value * factor)) }] : [];
      });
      if (found.length > 0) this.#put({ title, unit, series: found });
    }
    this.#none.hidden = this.#plots.size > 0;
  }

  #put({ title, unit, series }: Required<Pick<PlotOptions, "title" | "unit" | "series">>): void {
    const known = this.#plots.get(title);
    if (known) {
      known.update(series);
      return;
    }
    const box = h("div", { class: "card padded" });
    this.#grid.append(box);
    this.#plots.set(title, new Plot(box, { title, unit, series, axis: "time", height: 180, gaps: true, least: 0 }));
  }
}

function toTask({ run, task }: Advice): HTMLElement[] {
  return [h("a", { class: "button small", href: `/runs/${run}/tasks/${task}` }, t("monitoring.advice-task"))];
}
