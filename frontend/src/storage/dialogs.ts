//! What is asked for a new folder, a new volume, a new registry.

import { request } from "../api/client";
import { openDialog } from "../core/dialog";
import { h } from "../core/dom";
import { onSubmit } from "../core/form";
import { t } from "../core/texts";
import { toastLater } from "../core/toast";
import type { Place } from "../pages/storage";

/** Asks for a folder's name and makes it. */
export function newFolder(place: Place): void {
  const form = h("form", { class: "form" }, field("path", t("storage.name"), input("path", true)));
  ask(t("storage.new-folder"), form, async (data) => {
    const name = text(data, "path");
    const path = place.path === "" ? name : `${place.path}/${name}`;
    await request("POST", `${place.api}/folders`, { path });
    toastLater(t("storage.made", { name }));
  });
}

/** Asks where a volume is and adds it. `base` is the list's address. */
export function addVolume(base: string, secrets: string[], admin: boolean): void {
  const kinds: [string, string][] = [
    ["workspace", t("storage.kind-workspace")],
    ["object_store", t("storage.kind-bucket")],
    ["claim", t("storage.kind-claim")],
  ];
  if (admin) kinds.push(["folder", t("storage.kind-folder")]);
  const kind = h("select", { class: "input", id: "f-kind", name: "kind" }, ...kinds.map(([value, label]) => h("option", { value }, label)));
  const where = h("div", { class: "form" });
  const paint = () => { where.replaceChildren(...fieldsOf(kind.value, secrets)); };
  kind.addEventListener("change", paint);
  paint();
  const form = h(
    "form",
    { class: "form" },
    field("name", t("storage.name"), input("name", true), t("storage.volume-name-help")),
    field("kind", t("storage.kind"), kind),
    where,
    field("description", t("storage.description"), input("description")),
  );
  ask(t("storage.add-volume"), form, async (data) => {
    const body = { name: text(data, "name"), description: text(data, "description"), place: placeOf(data) };
    await request("POST", base, body);
    toastLater(t("storage.added", { name: body.name }));
  });
}

function fieldsOf(kind: string, secrets: string[]): HTMLElement[] {
  switch (kind) {
    case "workspace":
      return [field("path", t("storage.folder-path"), input("path", true), t("storage.folder-path-help"))];
    case "folder":
      return [field("path", t("storage.machine-path"), input("path", true), t("storage.machine-path-help"))];
    case "claim":
      return [field("cluster", t("storage.cluster"), input("cluster", true)), field("claim", t("storage.claim"), input("claim", true))];
    default:
      return [
        h("div", { class: "form-row" },
          field("scheme", t("storage.scheme"), h("select", { class: "input", id: "f-scheme", name: "scheme" }, h("option", { value: "s3" }, "S3"), h("option", { value: "cos" }, "COS"))),
          field("bucket", t("storage.bucket"), input("bucket", true))),
        h("div", { class: "form-row" },
          field("prefix", t("storage.prefix"), input("prefix")),
          field("region", t("storage.region"), input("region"))),
        field("endpoint", t("storage.endpoint"), input("endpoint")),
        h("div", { class: "form-row" },
          field("id", t("storage.key-id"), choice("id", secrets)),
          field("key", t("storage.key-secret"), choice("key", secrets))),
      ];
  }
}

function placeOf(data: FormData): Record<string, unknown> {
  const kind = text(data, "kind");
  const maybe = (name: string) => (text(data, name) === "" ? {} : { [name]: text(data, name) });
  switch (kind) {
    case "workspace":
    case "folder":
      return { kind, path: text(data, "path") };
    case "claim":
      return { kind, cluster: text(data, "cluster"), claim: text(data, "claim") };
    default: {
      const [id, key] = [text(data, "id"), text(data, "key")];
      const credentials = id === "" && key === "" ? {} : { credentials: { id, key } };
      const names = { scheme: text(data, "scheme"), bucket: text(data, "bucket"), prefix: text(data, "prefix") };
      return { kind, ...names, ...maybe("endpoint"), ...maybe("region"), ...credentials };
    }
  }
}

/** Asks for a registry and adds it. */
export function addRegistry(base: string, secrets: string[]): void {
  const form = h(
    "form",
    { class: "form" },
    field("name", t("storage.name"), input("name", true)),
    field("host", t("storage.host"), input("host", true), t("storage.host-help")),
    h("div", { class: "form-row" },
      field("user", t("storage.account"), input("user")),
      field("secret", t("storage.secret"), choice("secret", secrets))),
  );
  ask(t("storage.add-registry"), form, async (data) => {
    const secret = text(data, "secret");
    const body = { name: text(data, "name"), host: text(data, "host"), user: text(data, "user"), ...(secret === "" ? {} : { secret }) };
    await request("POST", base, body);
    toastLater(t("storage.added", { name: body.name }));
  });
}

function input(name: string, required = false): HTMLInputElement {
  return h("input", { class: "input", id: `f-${name}`, name, required, autocomplete: "off" });
}

function choice(name: string, names: string[]): HTMLSelectElement {
  const options = names.map((one) => h("option", { value: one }, one));
  return h("select", { class: "input", id: `f-${name}`, name }, h("option", { value: "" }, t("storage.no-secret")), ...options);
}

function field(name: string, label: string, control: HTMLElement, help?: string): HTMLElement {
  if (help !== undefined) control.setAttribute("aria-describedby", `h-${name}`);
  const note = help !== undefined && h("p", { class: "field-help", id: `h-${name}` }, help);
  return h("div", { class: "field", "data-field": name }, h("label", { for: `f-${name}` }, label), control, note);
}

function ask(title: string, form: HTMLFormElement, send: (data: FormData) => Promise<void>): void {
  form.id = "storage-form";
  const save = h("button", { class: "button primary", type: "submit", form: form.id }, t("storage.save"));
  const cancel = h("button", { class: "button", type: "button" }, t("common.cancel"));
  const dialog = openDialog({ title, body: [form], actions: [cancel, save] });
  cancel.addEventListener("click", () => { dialog.close(); });
  onSubmit(form, async (data) => {
    await send(data);
    location.reload();
  });
}

function text(data: FormData, name: string): string {
  const value = data.get(name);
  return typeof value === "string" ? value.trim() : "";
}
