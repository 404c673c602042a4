// The usage of a task's workers over time: a section of the task's page that is loaded when it is opened, and
// updated while the task runs.

import { request } from "../api/client";
import { ApiProblem } from "../api/problem";
import type { Schema } from "../api/typed";
import { Plot, type PlotSeries } from "../components/plot";
import { h, need } from "../core/dom";
import { language, t } from "../core/texts";

/** A worker, as in the API. */
type Worker = Schema<"WorkerUsageView">;

/** The reload interval while the task runs, in milliseconds: workers are sampled once a second. */
const AGAIN = 3000;

/** How a line is shown: its title, its unit, and the divisor of its values. */
interface Shown {
  readonly title: () => string;
  readonly unit: () => string;
  readonly by: number;
  /** Which of a worker's limits is drawn with it. */
  readonly limit?: "cpu" | "memory";
  /** Whether it is GPU memory, which has a fixed capacity. */
  readonly there?: boolean;
}

const LINES: Record<string, Shown> = {
  cpu: { title: () => t("run.usage-cpu"), unit: () => t("plot.cores"), by: 1, limit: "cpu" },
  throttled: { title: () => t("run.usage-throttled"), unit: () => t("plot.cores"), by: 1 },
  cpu_wait: { title: () => t("run.usage-cpu_wait"), unit: () => "%", by: 1 },
  memory: { title: () => t("run.usage-memory"), unit: () => "GiB", by: 2 ** 30, limit: "memory" },
  disk_read: { title: () => t("run.usage-disk_read"), unit: () => "MiB/s", by: 2 ** 20 },
  disk_written: { title: () => t("run.usage-disk_written"), unit: () => "MiB/s", by: 2 ** 20 },
  network_received: { title: () => t("run.usage-network_received"), unit: () => "MiB/s", by: 2 ** 20 },
  network_sent: { title: () => t("run.usage-network_sent"), unit: () => "MiB/s", by: 2 ** 20 },
  io_wait: { title: () => t("run.usage-io_wait"), unit: () => "%", by: 1 },
  card_use: { title: () => t("run.usage-card_use"), unit: () => "%", by: 1 },
  card_memory: { title: () => t("run.usage-card_memory"), unit: () => "GiB", by: 2 ** 30, there: true },
  card_power: { title: () => t("run.usage-card_power"), unit: () => "W", by: 1 },
};

const QUANTITIES: Record<string, () => string> = {
  cpu: () => t("run.usage-quantity-cpu"),
  throttled: () => t("run.usage-quantity-throttled"),
  cpu_wait: () => t("run.usage-quantity-cpu_wait"),
  memory: () => t("run.usage-quantity-memory"),
  disk: () => t("run.usage-quantity-disk"),
  network: () => t("run.usage-quantity-network"),
  io_wait: () => t("run.usage-quantity-io_wait"),
  cards: () => t("run.usage-quantity-cards"),
};

/** A reference line beside the usage: an amount from each moment in seconds on, and its label. */
interface Beside {
  readonly label: string;
  readonly steps: readonly { readonly from: number; readonly amount: number }[];
  readonly dotted?: boolean;
}

/** Shows the usage until the section is closed or removed, or the task has ended. */
export async function follow(box: HTMLDetailsElement): Promise<void> {
  const place = need(".plots", box);
  const note = need("[data-usage-note]", box);
  const { run = "", task = "", instance = "" } = box.dataset;
  const drawn = new Map<string, Plot>();
  place.replaceChildren();
  const stays = (): boolean => box.isConnected && box.open && box.dataset["instance"] === instance;
  while (stays()) {
    let live = true;
    try {
      const { data } = await request("GET", `/runs/${run}/tasks/${task}/usage?instance=${instance}`);
      live = data.live;
      const { workers } = data;
      show(place, drawn, workers);
      say(note, told(drawn.size > 0, data.missing, workers.length > 0 || data.missing.length < Object.keys(QUANTITIES).length));
    } catch (error) {
      // If the task's metrics are unreachable, the plots stay, with the reason above them. The page itself
      // reports an unreachable server.
      if (error instanceof ApiProblem && error.body.detail !== undefined) say(note, error.body.detail);
    }
    if (!live) break;
    await new Promise((done) => { setTimeout(done, AGAIN); });
  }
  if (box.isConnected && box.open && box.dataset["instance"] !== instance) void follow(box);
}

/**
 * Shows a message above the plots, or none. An unchanged message is not rewritten: screen readers would
 * repeat it.
 */
function say(note: HTMLElement, words: string): void {
  if (note.textContent !== words) note.textContent = words;
  note.hidden = words === "";
}

/** The message above the plots. */
function told(some: boolean, missing: readonly string[], kept: boolean): string {
  if (!kept) return t("run.usage-untold");
  if (!some) return t("run.usage-none");
  if (missing.length === 0) return "";
  const names = missing.map((name) => QUANTITIES[name]?.() ?? name);
  return t("run.usage-missing", { what: new Intl.ListFormat(language(), { type: "conjunction" }).format(names) });
}

function show(place: HTMLElement, drawn: Map<string, Plot>, workers: readonly Worker[]): void {
  for (const [name, shown] of Object.entries(LINES)) {
    const series = lines(name, shown, workers);
    if (series.length === 0) continue;
    const known = drawn.get(name);
    if (known !== undefined) {
      known.update(series);
      continue;
    }
    const card = h("div", { class: "card padded" });
    place.append(card);
    drawn.set(name, new Plot(card, { title: shown.title(), unit: shown.unit(), series, axis: "time", height: 180, least: 0 }));
  }
}

/** A line per worker, and one per distinct limit history of workers, or per capacity. */
export function lines(name: string, { by, limit, there }: Pick<Shown, "by" | "limit" | "there">, workers: readonly Worker[]): PlotSeries[] {
  const found: PlotSeries[] = [];
  const beside = new Map<string, Beside>();
  const add = (one: Beside): void => { beside.set(JSON.stringify(one), one); };
  for (const worker of workers) {
    const line = worker.lines.find((one) => one.name === name);
    if (line === undefined) continue;
    found.push({ label: worker.worker, x: line.points.map(([at = 0]) => at), y: line.points.map(([, value = 0]) => value / by) });
    if (limit !== undefined) limits(worker, limit).forEach(add);
    if (limit === "cpu" && worker.cpu_limit != null) add({ label: t("run.usage-limit"), steps: [{ from: 0, amount: worker.cpu_limit }] });
    if (there && worker.card_memory != null) add({ label: t("run.usage-there"), steps: [{ from: 0, amount: worker.card_memory }] });
  }
  const moments = found.flatMap(({ x }) => x);
  const [first, last] = [Math.min(...moments), Math.max(...moments)];
  for (const { label, steps, dotted = false } of beside.values()) {
    // A value from before the lines begin is drawn from their start on, and the last step to their end.
    const x = [...steps.map(({ from }) => Math.min(Math.max(from, first), last)), last];
    const y = [...steps, ...steps.slice(-1)].map(({ amount }) => amount / by);
    found.push({ label, x, y, dashed: true, stepped: true, dotted });
  }
  return found;
}

/** The history of a worker's memory limit or guaranteed CPU, and its request where these differ at times. */
function limits({ asked, limits: had }: Worker, of: "cpu" | "memory"): Beside[] {
  const steps = had.map((one) => ({ from: Date.parse(one.at) / 1000, amount: one[of] })).filter(({ amount }) => amount > 0);
  if (steps.length === 0) return [];
  const changed = steps.filter(({ amount }, at) => amount !== steps[at - 1]?.amount);
  const wanted = asked?.[of] ?? 0;
  // The first value starts at the beginning, so that it is the same for all workers of a gang.
  const label = of === "cpu" ? t("run.usage-guaranteed") : t("run.usage-limit");
  const found: Beside[] = [{ label, steps: changed.map((one, at) => (at === 0 ? { ...one, from: 0 } : one)) }];
  if (wanted > 0 && changed.some(({ amount }) => amount !== wanted)) found.push({ label: t("run.usage-asked"), steps: [{ from: 0, amount: wanted }], dotted: true });
  return found;
}
