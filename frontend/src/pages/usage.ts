//! Usage: an administrator enters, edits and removes prices. The rest of the page needs no script.

import { request } from "../api/client";
import { ask } from "../core/ask";
import { confirm } from "../core/dialog";
import { all, need } from "../core/dom";
import { field, input, required, said, select } from "../core/fields";
import { trying } from "../core/form";
import { t } from "../core/texts";
import { toastLater } from "../core/toast";

export function start(): void {
  document.querySelector("#add-price")?.addEventListener("click", add);
  for (const button of all<HTMLButtonElement>("[data-edit-price]")) {
    button.addEventListener("click", () => void trying(() => change(button.dataset["editPrice"] ?? "")));
  }
  for (const button of all<HTMLButtonElement>("[data-delete-price]")) {
    button.addEventListener("click", () => void trying(() => remove(button.dataset["deletePrice"] ?? "")));
  }
}

/** The fields of the hourly prices. */
function rates(present: { gpu_hour?: string; cpu_hour?: string; memory_gib_hour?: string }): HTMLElement[] {
  const amount = (name: string, label: string, value = "") => {
    const control = input(value);
    control.inputMode = "decimal";
    return field(name, label, control, t("usage.amount-help"));
  };
  return [
    amount("gpu_hour", t("usage.gpu-hour"), present.gpu_hour),
    amount("cpu_hour", t("usage.cpu-hour"), present.cpu_hour),
    amount("memory_gib_hour", t("usage.memory-hour"), present.memory_gib_hour),
  ];
}

function told(data: FormData): { gpu_hour: string; cpu_hour: string; memory_gib_hour: string } {
  return { gpu_hour: said(data, "gpu_hour"), cpu_hour: said(data, "cpu_hour"), memory_gib_hour: said(data, "memory_gib_hour") };
}

function add(): void {
  const pools = JSON.parse(need("#pools").textContent) as Record<string, string[]>;
  const options = Object.entries(pools).flatMap(([cluster, groups]): [string, string][] => [
    [cluster, t("usage.whole-cluster", { name: cluster })],
    ...groups.map((group): [string, string] => [`${cluster}/${group}`, `${cluster} / ${group}`]),
  ]);
  const today = new Date().toISOString().slice(0, 10);
  ask({
    title: t("usage.add-price"),
    fields: [
      field("cluster", t("usage.pool"), select(options)),
      field("valid_from", t("usage.valid-from"), required(input(today, "date")), t("usage.from-help")),
      ...rates({}),
    ],
    action: t("usage.add-it"),
    send: async (data) => {
      const [cluster = "", group] = said(data, "cluster").split("/");
      await request("POST", "/prices", { cluster, ...(group ? { node_group: group } : {}), valid_from: said(data, "valid_from"), ...told(data) });
      again(t("usage.price-saved"));
    },
  });
}

async function change(id: string): Promise<void> {
  const { data: present, etag } = await request("GET", `/prices/${id}`);
  ask({
    title: t("usage.change-price-of", { name: present.cluster, day: present.valid_from }),
    fields: rates(present),
    action: t("usage.save"),
    send: async (data) => {
      await request("PUT", `/prices/${id}`, told(data), etag === null ? {} : { etag });
      again(t("usage.price-saved"));
    },
  });
}

async function remove(id: string): Promise<void> {
  const { data: present, etag } = await request("GET", `/prices/${id}`);
  const title = t("usage.delete-price-of", { name: present.cluster, day: present.valid_from });
  if (!(await confirm({ title, text: t("usage.delete-price-text"), action: t("usage.delete-price"), danger: true }))) return;
  await request("DELETE", `/prices/${id}`, undefined, etag === null ? {} : { etag });
  again(t("usage.price-deleted"));
}

function again(message: string): void {
  toastLater(message);
  location.reload();
}
