//! Formats resource amounts in sentences.

import { t } from "./texts";
import { bytes } from "./time";

/** The number alone: `7`, `0.5`, `2.0 GiB`. CPUs and devices are numbers, memory is in bytes. */
export function plainAmount(resource: string, amount: number): string {
  return resource === "memory" ? bytes(amount) : String(Number(amount.toFixed(2)));
}

/** With its unit: `7 CPU`, `1 GPU`, `8 H100 GPUs`, `2.0 GiB of memory`. */
export function amountOf(resource: string, amount: number): string {
  const n = plainAmount(resource, amount);
  switch (resource) {
    case "cpu": return t("common.amount-cpu", { n });
    case "memory": return t("common.amount-memory", { n });
    case "gpus": return t("common.amount-gpus", { n });
    case "pods": return t("common.amount-pods", { n });
    case "runs": return t("common.amount-runs", { n });
    default: return t("common.amount-gpus-of", { n, kind: resource.replace("gpus/", "") });
  }
}
