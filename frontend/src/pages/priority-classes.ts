//! Priority classes, on the page of quotas: an administrator creates, changes and deletes them.

import { request } from "../api/client";
import { ask } from "../core/ask";
import { confirm } from "../core/dialog";
import { all, carried } from "../core/dom";
import { field, input, required, said, select } from "../core/fields";
import { trying } from "../core/form";
import { t } from "../core/texts";
import { toastLater } from "../core/toast";

interface PriorityClass {
  readonly name: string;
  readonly priority: number;
  readonly preempts: "never" | "lower";
  readonly description?: string;
  readonly revision: number;
}

export function startPriorityClasses(): void {
  const { items } = carried("classes-data") as { items: readonly PriorityClass[] };
  const named = (name: string | undefined) => items.find((one) => one.name === name);
  document.querySelector("#new-class")?.addEventListener("click", () => { write(); });
  for (const button of all<HTMLButtonElement>("[data-edit-class]")) {
    const found = named(button.dataset["editClass"]);
    button.addEventListener("click", () => { if (found) write(found); });
  }
  for (const button of all<HTMLButtonElement>("[data-delete-class]")) {
    const found = named(button.dataset["deleteClass"]);
    button.addEventListener("click", () => { if (found) void trying(() => remove(found)); });
  }
}

/** The dialog for a new class, or for an existing one. */
function write(existing?: PriorityClass): void {
  const priority = required(input(existing ? String(existing.priority) : "", "number"));
  [priority.min, priority.max, priority.step] = ["-1000", "1000", "1"];
  const preempts = select([["never", t("quotas.class-never")], ["lower", t("quotas.class-lower")]], existing?.preempts);
  const fields = [
    field("priority", t("quotas.class-priority"), priority, t("quotas.class-priority-help")),
    field("preempts", t("quotas.class-preempts"), preempts, t("quotas.class-preempts-help")),
    field("description", t("quotas.class-description"), input(existing?.description), t("quotas.limit-description-help")),
  ];
  const name = field("class", t("quotas.name"), required(input()), t("quotas.name-help"));
  ask({
    title: existing ? t("quotas.change-class", { name: existing.name }) : t("quotas.new-class"),
    fields: existing ? fields : [name, ...fields],
    action: t(existing ? /* text */ "quotas.save" : /* text */ "quotas.make"),
    send: async (data) => {
      const called = existing?.name ?? said(data, "class");
      const body = { priority: Number(said(data, "priority")), preempts: said(data, "preempts") === "lower" ? "lower" as const : "never" as const, description: said(data, "description") || null };
      // Revision 0: a class of this name that exists already is not overwritten.
      await request("PUT", `/priority-classes/${encodeURIComponent(called)}`, body, { etag: `"${existing?.revision ?? 0}"` });
      again(t("quotas.class-changed", { name: called }));
    },
  });
}

async function remove({ name, revision }: PriorityClass): Promise<void> {
  const sure = await confirm({ title: t("quotas.delete-class-title", { name }), text: t("quotas.delete-class-text"), action: t("quotas.delete-class"), danger: true });
  if (!sure) return;
  await request("DELETE", `/priority-classes/${name}`, undefined, { etag: `"${revision}"` });
  again(t("quotas.class-deleted", { name }));
}

function again(message: string): void {
  toastLater(message);
  location.reload();
}
