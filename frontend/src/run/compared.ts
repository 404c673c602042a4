// Comparison of two runs: their metrics in one plot.

import { request } from "../api/client";
import { trying } from "../core/form";
import { Plots } from "./metrics";
import { plots, type Line, type Series } from "./series";

interface Comparison {
  metrics: { left?: Series | null; right?: Series | null }[];
}

/** Plots the metrics of both runs, if any. */
export async function drawCompared(): Promise<void> {
  const box = document.querySelector<HTMLElement>("#metrics");
  if (box === null) return;
  const { left = "", right = "", leftName = "", rightName = "" } = box.dataset;
  await trying(async () => {
    const { data } = await request("GET", `/runs/${left}/compare?with=${right}`);
    new Plots(box).show(both(data as unknown as Comparison, leftName, rightName));
  });
}

/** The lines of both sides, by name. */
function both({ metrics }: Comparison, leftName: string, rightName: string): Map<string, Line[]> {
  const side = (pick: (pair: Comparison["metrics"][number]) => Series | null | undefined, name: string): Map<string, Line[]> =>
    plots(metrics.map(pick).filter((series) => series != null), `${name}: `);
  const all = side((pair) => pair.left, leftName);
  for (const [name, lines] of side((pair) => pair.right, rightName)) {
    all.set(name, [...(all.get(name) ?? []), ...lines]);
  }
  return all;
}
