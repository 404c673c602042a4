//! The secrets of a project and of the user: dialogs to add, replace and delete them.

import { request } from "../api/client";
import { confirm, openDialog } from "../core/dialog";
import { all, around, h } from "../core/dom";
import { onSubmit, trying } from "../core/form";
import { t } from "../core/texts";
import { toastLater } from "../core/toast";

/** A row of one of the tables. */
interface Row {
  name: string;
  etag: string;
  description: string;
}

export function start(): void {
  for (const section of all("[data-base]")) {
    const base = section.dataset["base"] ?? "";
    section.addEventListener("click", (event) => {
      if (around(event, "[data-add]")) add(base);
      const row = rowOf(event);
      if (row && around(event, "[data-replace]")) replace(base, row);
      if (row && around(event, "[data-delete]")) void remove(base, row);
    });
  }
}

function rowOf(event: Event): Row | null {
  const row = around(event, "[data-name]");
  const { name, etag, description } = row?.dataset ?? {};
  return name === undefined ? null : { name, etag: etag ?? "*", description: description ?? "" };
}

function add(base: string): void {
  const name = h("input", { class: "input mono", id: "f-name", name: "name", required: true, autocomplete: "off", autofocus: true, "aria-describedby": "h-name" });
  const form = h(
    "form",
    { class: "form" },
    field("name", t("secrets.name"), name, t("secrets.name-help")),
    field("value", t("secrets.value"), valueInput(true), t("secrets.value-help")),
    field("description", t("secrets.description"), h("input", { class: "input", id: "f-description", name: "description" })),
  );
  ask(t("secrets.add"), form, async (data) => {
    const body = { name: text(data, "name"), value: text(data, "value"), description: text(data, "description") };
    await request("POST", base, body);
    done(t("secrets.added", { name: body.name }));
  });
}

function replace(base: string, row: Row): void {
  const description = h("input", { class: "input", id: "f-description", name: "description", value: row.description });
  const form = h(
    "form",
    { class: "form" },
    field("value", t("secrets.value"), valueInput(false), `${t("secrets.value-help")} ${t("secrets.value-keep")}`),
    field("description", t("secrets.description"), description),
  );
  ask(t("secrets.replace-name", { name: row.name }), form, async (data) => {
    const value = text(data, "value");
    const body = { description: text(data, "description"), ...(value === "" ? {} : { value }) };
    await request("PUT", `${base}/${row.name}`, body, { etag: row.etag });
    done(t("secrets.saved", { name: row.name }));
  });
}

async function remove(base: string, row: Row): Promise<void> {
  const title = t("secrets.delete-name", { name: row.name });
  const sure = await confirm({ title, text: t("secrets.delete-text"), action: t("secrets.delete"), danger: true });
  if (!sure) return;
  await trying(async () => {
    await request("DELETE", `${base}/${row.name}`, undefined, { etag: row.etag });
    done(t("secrets.deleted", { name: row.name }));
  });
}

// A multi-line field for keys; a password field's value would be offered for saving by browsers.
function valueInput(first: boolean): HTMLTextAreaElement {
  return h("textarea", {
    class: "input mono", id: "f-value", name: "value", rows: 4, required: first, autofocus: !first,
    autocomplete: "off", spellcheck: "false", "aria-describedby": "h-value",
  });
}

function field(name: string, label: string, control: HTMLElement, help?: string): HTMLElement {
  const note = help && h("p", { class: "field-help", id: `h-${name}` }, help);
  return h("div", { class: "field", "data-field": name }, h("label", { for: `f-${name}` }, label), control, note);
}

function ask(title: string, form: HTMLFormElement, send: (data: FormData) => Promise<void>): void {
  form.id = "secret-form";
  const save = h("button", { class: "button primary", type: "submit", form: form.id }, t("secrets.save"));
  const cancel = h("button", { class: "button", type: "button" }, t("common.cancel"));
  const dialog = openDialog({ title, body: [form], actions: [cancel, save] });
  cancel.addEventListener("click", () => { dialog.close(); });
  onSubmit(form, async (data) => {
    await send(data);
    dialog.close();
  });
}

function text(data: FormData, name: string): string {
  const value = data.get(name);
  return typeof value === "string" ? value : "";
}

function done(message: string): void {
  toastLater(message);
  location.reload();
}
