//! The dialogs for a new folder, a new volume, a new registry.

import { request } from "../api/client";
import { ask } from "../core/ask";
import { h } from "../core/dom";
import { field, input, required, said, select } from "../core/fields";
import { t } from "../core/texts";
import { toastLater } from "../core/toast";
import type { Place } from "../pages/storage";

/** Asks for a folder's name and creates it. */
export function newFolder(place: Place): void {
  ask({
    title: t("storage.new-folder"),
    fields: [field("path", t("storage.name"), required(input()))],
    action: t("storage.save"),
    send: async (data) => {
      const name = said(data, "path");
      const path = place.path === "" ? name : `${place.path}/${name}`;
      await request("POST", `${place.api}/folders`, { path });
      toastLater(t("storage.made", { name }));
      location.reload();
    },
  });
}

/** Asks for a volume's location and adds it. `base` is the list's URL. */
export function addVolume(base: string, secrets: string[], admin: boolean): void {
  const kinds: [string, string][] = [
    ["workspace", t("storage.kind-workspace")],
    ["object_store", t("storage.kind-bucket")],
    ["claim", t("storage.kind-claim")],
  ];
  if (admin) kinds.push(["folder", t("storage.kind-folder")]);
  const kind = select(kinds);
  const where = h("div", { class: "form" });
  const paint = () => { where.replaceChildren(...fieldsOf(kind.value, secrets, admin)); };
  kind.addEventListener("change", paint);
  paint();
  ask({
    title: t("storage.add-volume"),
    fields: [
      field("name", t("storage.name"), required(input()), t("storage.volume-name-help")),
      field("kind", t("storage.kind"), kind),
      where,
      field("description", t("storage.description"), input()),
    ],
    action: t("storage.save"),
    send: async (data) => {
      const body = { name: said(data, "name"), description: said(data, "description"), place: placeOf(data) };
      await request("POST", base, body);
      toastLater(t("storage.added", { name: body.name }));
      location.reload();
    },
  });
}

function fieldsOf(kind: string, secrets: string[], admin: boolean): HTMLElement[] {
  switch (kind) {
    case "workspace":
      return [field("path", t("storage.folder-path"), required(input()), t("storage.folder-path-help"))];
    case "folder":
      return [field("path", t("storage.machine-path"), required(input()), t("storage.machine-path-help"))];
    case "claim":
      return [
        field("cluster", t("storage.cluster"), required(input())),
        field("claim", t("storage.claim"), required(input())),
        ...(admin ? [field("folder", t("storage.claim-folder"), input(), t("storage.claim-folder-help"))] : []),
      ];
    default:
      return [
        h("div", { class: "form-row" },
          field("scheme", t("storage.scheme"), select([["s3", "S3"], ["cos", "COS"]])),
          field("bucket", t("storage.bucket"), required(input()))),
        h("div", { class: "form-row" },
          field("prefix", t("storage.prefix"), input()),
          field("region", t("storage.region"), input())),
        field("endpoint", t("storage.endpoint"), input()),
        h("div", { class: "form-row" },
          field("id", t("storage.key-id"), secretOf(secrets)),
          field("key", t("storage.key-secret"), secretOf(secrets))),
      ];
  }
}

function placeOf(data: FormData): Record<string, unknown> {
  const kind = said(data, "kind");
  const maybe = (name: string) => (said(data, name) === "" ? {} : { [name]: said(data, name) });
  switch (kind) {
    case "workspace":
    case "folder":
      return { kind, path: said(data, "path") };
    case "claim":
      return { kind, cluster: said(data, "cluster"), claim: said(data, "claim"), ...maybe("folder") };
    default: {
      const [id, key] = [said(data, "id"), said(data, "key")];
      const credentials = id === "" && key === "" ? {} : { credentials: { id, key } };
      const names = { scheme: said(data, "scheme"), bucket: said(data, "bucket"), prefix: said(data, "prefix") };
      return { kind, ...names, ...maybe("endpoint"), ...maybe("region"), ...credentials };
    }
  }
}

export function addRegistry(base: string, secrets: string[]): void {
  ask({
    title: t("storage.add-registry"),
    fields: [
      field("name", t("storage.name"), required(input())),
      field("host", t("storage.host"), required(input()), t("storage.host-help")),
      h("div", { class: "form-row" },
        field("user", t("storage.account"), input()),
        field("secret", t("storage.secret"), secretOf(secrets))),
    ],
    action: t("storage.save"),
    send: async (data) => {
      const secret = said(data, "secret");
      const body = { name: said(data, "name"), host: said(data, "host"), user: said(data, "user"), ...(secret === "" ? {} : { secret }) };
      await request("POST", base, body);
      toastLater(t("storage.added", { name: body.name }));
      location.reload();
    },
  });
}

/** A select with the project's secrets, or none. */
function secretOf(secrets: string[]): HTMLSelectElement {
  return select([["", t("storage.no-secret")], ...secrets.map((name): [string, string] => [name, name])]);
}
