//! Sparklines in tables: recent runs as bars (height: duration, colour: result), a metric as a line.

import { all, h, s } from "../core/dom";
import { stateWord, t } from "../core/texts";
import { duration } from "../core/time";

export interface SparkRun {
  id: string;
  state: string;
  /** The duration; null while it is unknown. */
  seconds: number | null;
}

const BAR = { width: 7, gap: 2, height: 22, least: 4 };
/** The maximum number of bars. */
export const SPARK_RUNS = 12;

/** The recent runs, newest at the right. Each links to its run. */
export function sparkRuns(runs: SparkRun[]): HTMLElement {
  const last = runs.slice(-SPARK_RUNS);
  const longest = Math.max(1, ...last.map((run) => run.seconds ?? 0));
  const links = last.map((run) => {
    const height = BAR.least + ((run.seconds ?? longest) / longest) * (BAR.height - BAR.least);
    const took = run.seconds === null ? "" : ` · ${duration(run.seconds)}`;
    const bar = h("a", { class: "spark-bar", href: `/runs/${run.id}`, "data-state": run.state, title: `${stateWord(run.state)}${took}` });
    bar.append(h("span", { class: "visually-hidden" }, stateWord(run.state)));
    bar.style.height = `${height}px`;
    return bar;
  });
  return h("span", { class: "spark-runs", role: "group", "aria-label": t("common.last-runs") }, ...links);
}

/** Fills every `[data-spark-runs]` (JSON: SparkRun[], oldest first), whose size is reserved before. */
export function paintSparks(inside: ParentNode = document): void {
  for (const place of all("[data-spark-runs]", inside)) {
    place.replaceChildren(sparkRuns(JSON.parse(place.dataset["sparkRuns"] ?? "[]") as SparkRun[]));
  }
}

/** Values as a line of 96 x 22 pixels. */
export function sparkLine(values: number[], label: string): SVGSVGElement {
  const [width, height] = [96, 22];
  const finite = values.filter((value) => Number.isFinite(value));
  const [least, most] = [Math.min(...finite), Math.max(...finite)];
  const at = (value: number, index: number) => {
    const x = 1 + (index / Math.max(1, finite.length - 1)) * (width - 2);
    const y = most === least ? height / 2 : height - 2 - ((value - least) / (most - least)) * (height - 4);
    return `${x.toFixed(1)} ${y.toFixed(1)}`;
  };
  const line = finite.length > 0 ? `M${finite.map(at).join("L")}` : "";
  return s("svg", { class: "spark-line", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, s("path", { d: line }));
}
