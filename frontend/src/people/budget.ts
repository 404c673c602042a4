//! An administrator sets a project's monthly budget.

import { request } from "../api/client";
import { ask } from "../core/ask";
import { check, field, input, said } from "../core/fields";
import { t } from "../core/texts";
import { toastLater } from "../core/toast";

/** Makes the button open the dialog. */
export function watchBudget(button: HTMLElement | null): void {
  button?.addEventListener("click", () => { set(button); });
}

function set(button: HTMLElement): void {
  const { project = "", month = "", etag = "", amount = "", warn = "80", stop } = button.dataset;
  const how = input(amount);
  how.inputMode = "decimal";
  const percent = input(warn, "number");
  percent.min = "1";
  percent.max = "100";
  ask({
    title: t("usage.set-budget"),
    fields: [
      field("amount", t("usage.budget-amount"), how, t("usage.budget-amount-help")),
      field("warn_percent", t("usage.budget-warn"), percent),
      check("stop", t("usage.budget-stop"), stop === "true", t("usage.budget-stop-help")),
    ],
    action: t("usage.save"),
    send: async (data) => {
      const wanted = said(data, "amount");
      const body = { ...(wanted ? { amount: wanted } : {}), warn_percent: Number(said(data, "warn_percent")), stop: data.get("stop") !== null };
      await request("PUT", `/projects/${project}/budgets/${month}`, body, { etag: etag || "*" });
      toastLater(t("usage.budget-saved"));
      location.reload();
    },
  });
}
