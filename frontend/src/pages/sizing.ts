//! The right-sizing of a task: its attempts as plots, the revert and the resume buttons.

import { request } from "../api/client";
import { Plot, type PlotOptions } from "../components/plot";
import { confirm } from "../core/dialog";
import { all, need } from "../core/dom";
import { trying } from "../core/form";
import { t } from "../core/texts";
import { toastLater } from "../core/toast";
import { cpuLines, memoryLines, type Role } from "../run/sizing";

export function start(): void {
  const { roles } = JSON.parse(need("#carried").textContent) as { roles: Role[] };
  for (const box of all("[data-role]")) {
    const role = roles.find((one) => one.role === box.dataset["role"]);
    if (!role) continue;
    draw(box, "memory", { title: t("sizing.plot-memory"), unit: "GiB", series: memoryLines(role) });
    draw(box, "cpu", { title: t("sizing.plot-cpu"), unit: t("plot.cores"), series: cpuLines(role) });
  }
  const api = need("#sizing").dataset["api"] ?? "";
  document.querySelector("#revert")?.addEventListener("click", () => void trying(() => revert(api)));
  document.querySelector("#resume")?.addEventListener("click", () => void trying(() => resume(api)));
}

function draw(box: HTMLElement, name: string, options: PlotOptions): void {
  const place = box.querySelector<HTMLElement>(`[data-plot="${name}"]`);
  if (place) new Plot(place, { ...options, steps: t("sizing.plot-attempt") });
}

async function revert(api: string): Promise<void> {
  const sure = await confirm({ title: t("sizing.revert-title"), text: t("sizing.revert-text"), action: t("sizing.revert") });
  if (!sure) return;
  await request("POST", `${api}/revert`);
  again(t("sizing.done-revert"));
}

async function resume(api: string): Promise<void> {
  await request("POST", `${api}/resume`);
  again(t("sizing.done-resume"));
}

function again(message: string): void {
  toastLater(message);
  location.reload();
}
