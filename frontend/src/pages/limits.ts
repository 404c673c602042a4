//! Concurrency limits, on the quotas page: an administrator creates, edits and deletes them.

import { request } from "../api/client";
import { ask } from "../core/ask";
import { confirm } from "../core/dialog";
import { all, carried } from "../core/dom";
import { field, input, required, said } from "../core/fields";
import { trying } from "../core/form";
import { t } from "../core/texts";
import { toastLater } from "../core/toast";

interface Limit {
  readonly name: string;
  readonly at_once?: number;
  readonly a_minute?: number;
  readonly description?: string;
  readonly revision: number;
}

export function startLimits(): void {
  const { items } = carried("limits-data") as { items: readonly Limit[] };
  document.querySelector("#new-limit")?.addEventListener("click", () => { write(); });
  for (const button of all<HTMLButtonElement>("[data-edit-limit]")) {
    const limit = items.find((one) => one.name === button.dataset["editLimit"]);
    button.addEventListener("click", () => { if (limit) write(limit); });
  }
  for (const button of all<HTMLButtonElement>("[data-delete-limit]")) {
    const limit = items.find((one) => one.name === button.dataset["deleteLimit"]);
    button.addEventListener("click", () => { if (limit) void trying(() => remove(limit)); });
  }
}

/** The dialog for a new limit, or for an existing one. */
function write(limit?: Limit): void {
  const name = field("limit", t("quotas.name"), required(input()), t("quotas.name-help"));
  const fields = [
    field("at_once", t("quotas.limit-at-once"), number(limit?.at_once, 0), t("quotas.limit-at-once-help")),
    field("a_minute", t("quotas.limit-a-minute"), number(limit?.a_minute, 1), t("quotas.limit-a-minute-help")),
    field("description", t("quotas.limit-description"), input(limit?.description), t("quotas.limit-description-help")),
  ];
  ask({
    title: limit ? t("quotas.change-limit", { name: limit.name }) : t("quotas.new-limit"),
    fields: limit ? fields : [name, ...fields],
    action: t(limit ? /* text */ "quotas.save" : /* text */ "quotas.make"),
    send: async (data) => {
      const called = limit?.name ?? said(data, "limit");
      const body = { at_once: amount(data, "at_once"), a_minute: amount(data, "a_minute"), description: said(data, "description") || null };
      // Revision 0: an existing limit of this name is an error.
      await request("PUT", `/limits/${encodeURIComponent(called)}`, body, { etag: `"${limit?.revision ?? 0}"` });
      again(t("quotas.limit-changed", { name: called }));
    },
  });
}

function number(value: number | undefined, least: number): HTMLInputElement {
  const control = input(value === undefined ? "" : String(value), "number");
  control.min = String(least);
  control.max = "4294967295";
  control.step = "1";
  return control;
}

function amount(data: FormData, name: string): number | null {
  const text = said(data, name);
  return text === "" ? null : Number(text);
}

async function remove({ name, revision }: Limit): Promise<void> {
  const sure = await confirm({ title: t("quotas.delete-limit-title", { name }), text: t("quotas.delete-limit-text"), action: t("quotas.delete-limit"), danger: true });
  if (!sure) return;
  await request("DELETE", `/limits/${name}`, undefined, { etag: `"${revision}"` });
  again(t("quotas.limit-deleted", { name }));
}

function again(message: string): void {
  toastLater(message);
  location.reload();
}
