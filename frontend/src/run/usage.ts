// What a task's workers use over time: a part of the task's page that is read when somebody opens it, and followed while the
// task runs.

import { request } from "../api/client";
import { ApiProblem } from "../api/problem";
import { Plot, type PlotSeries } from "../components/plot";
import { h, need } from "../core/dom";
import { language, t } from "../core/texts";

/** How often it is read again while the task runs, in milliseconds: workers are looked at once a second. */
const AGAIN = 3000;

/** How a line is shown: its title, and by how much its values are divided. */
interface Shown {
  readonly title: () => string;
  readonly by: number;
  /** What of a worker is drawn beside it: what it asked for. */
  readonly asked?: "cpu" | "memory" | "card_memory";
  /** The word for that. */
  readonly beside?: () => string;
}

const LINES: Record<string, Shown> = {
  cpu: { title: () => t("run.usage-cpu"), by: 1, asked: "cpu" },
  throttled: { title: () => t("run.usage-throttled"), by: 1 },
  memory: { title: () => t("run.usage-memory"), by: 2 ** 30, asked: "memory" },
  disk_read: { title: () => t("run.usage-disk_read"), by: 2 ** 20 },
  disk_written: { title: () => t("run.usage-disk_written"), by: 2 ** 20 },
  network_received: { title: () => t("run.usage-network_received"), by: 2 ** 20 },
  network_sent: { title: () => t("run.usage-network_sent"), by: 2 ** 20 },
  io_wait: { title: () => t("run.usage-io_wait"), by: 1 },
  card_use: { title: () => t("run.usage-card_use"), by: 1 },
  card_memory: { title: () => t("run.usage-card_memory"), by: 2 ** 30, asked: "card_memory", beside: () => t("run.usage-there") },
  card_power: { title: () => t("run.usage-card_power"), by: 1 },
};

const QUANTITIES: Record<string, () => string> = {
  cpu: () => t("run.usage-quantity-cpu"),
  throttled: () => t("run.usage-quantity-throttled"),
  memory: () => t("run.usage-quantity-memory"),
  disk: () => t("run.usage-quantity-disk"),
  network: () => t("run.usage-quantity-network"),
  io_wait: () => t("run.usage-quantity-io_wait"),
  cards: () => t("run.usage-quantity-cards"),
};

/** A worker, as the API has it. */
interface Worker {
  readonly worker: string;
  readonly cpu?: number;
  readonly memory?: number;
  readonly card_memory?: number;
  readonly lines: readonly { readonly name: string; readonly points: readonly (readonly number[])[] }[];
}

/** Shows the usage until the part is closed or gone, or the task has ended. */
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
      const workers = data.workers as unknown as Worker[];
      show(place, drawn, workers);
      const words = told(drawn.size > 0, data.missing, workers.length > 0 || data.missing.length < Object.keys(QUANTITIES).length);
      if (note.textContent !== words) note.textContent = words;
      note.hidden = words === "";
    } catch (error) {
      // The server may be away for a moment: what is drawn stays.
      if (drawn.size === 0 && error instanceof ApiProblem) note.textContent = error.message;
    }
    if (!live) break;
    await new Promise((done) => { setTimeout(done, AGAIN); });
  }
  if (box.isConnected && box.open && box.dataset["instance"] !== instance) void follow(box);
}

/** What is said above the plots. */
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
    drawn.set(name, new Plot(card, { title: shown.title(), series, axis: "time", height: 180, least: 0 }));
  }
}

/** A line for each worker, and one for each amount that workers asked for. */
function lines(name: string, { by, asked, beside }: Shown, workers: readonly Worker[]): PlotSeries[] {
  const found: PlotSeries[] = [];
  const amounts = new Set<number>();
  for (const worker of workers) {
    const line = worker.lines.find((one) => one.name === name);
    if (line === undefined) continue;
    found.push({ label: worker.worker, x: line.points.map(([at = 0]) => at), y: line.points.map(([, value = 0]) => value / by) });
    const amount = asked === undefined ? undefined : worker[asked];
    if (amount !== undefined) amounts.add(amount / by);
  }
  const moments = found.flatMap(({ x }) => x);
  const [first, last] = [Math.min(...moments), Math.max(...moments)];
  for (const amount of amounts) found.push({ label: beside?.() ?? t("run.usage-asked"), x: [first, last], y: [amount, amount], dashed: true });
  return found;
}
