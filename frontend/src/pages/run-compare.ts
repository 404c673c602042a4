//! Two runs beside each other: their metrics in one plot.

import { request } from "../api/client";
import { trying } from "../core/form";
import { t } from "../core/texts";
import { watchChoices } from "../run/choices";
import { Plots } from "../run/metrics";
import { plots, type Line, type Series } from "../run/series";

interface Comparison {
  metrics: { left?: Series | null; right?: Series | null }[];
}

/** Starts the page. */
export async function start(): Promise<void> {
  watchChoices();
  const box = document.querySelector<HTMLElement>("#metrics");
  if (box === null) return;
  const { left = "", right = "" } = box.dataset;
  await trying(async () => {
    const { data } = await request("GET", `/runs/${left}/compare?with=${right}`);
    new Plots(box).show(both(data as unknown as Comparison));
  });
}

/** The lines of both sides, by name. */
function both({ metrics }: Comparison): Map<string, Line[]> {
  const side = (pick: (pair: Comparison["metrics"][number]) => Series | null | undefined, name: string): Map<string, Line[]> =>
    plots(metrics.map(pick).filter((series) => series != null), `${name}: `);
  const all = side((pair) => pair.left, t("run.this-run"));
  for (const [name, lines] of side((pair) => pair.right, t("run.other-run"))) {
    all.set(name, [...(all.get(name) ?? []), ...lines]);
  }
  return all;
}
