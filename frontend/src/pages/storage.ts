//! The files of a project's volumes: upload by button or drag and drop, preview, deletion; volumes and
//! registries.

import { request } from "../api/client";
import { confirm } from "../core/dialog";
import { around, need } from "../core/dom";
import { trying } from "../core/form";
import { t } from "../core/texts";
import { toastLater } from "../core/toast";
import { showPreview } from "../storage/preview";
import { addRegistry, addVolume, newFolder } from "../storage/dialogs";
import { uploadAll } from "../storage/upload";

export function start(): void {
  const files = need("#files");
  const place = { api: files.dataset["api"] ?? "", path: files.dataset["path"] ?? "" };
  files.addEventListener("click", (event) => { onFileClick(event, place.api); });
  if (files.dataset["writable"] !== undefined) writable(files, place);
  document.querySelector("#add-volume")?.addEventListener("click", (event) => {
    const admin = around(event, "#add-volume")?.dataset["admin"] === "true";
    addVolume(place.api.replace(/\/[^/]+$/, ""), secretNames(), admin);
  });
  const registries = need("#registries");
  const base = registries.dataset["api"] ?? "";
  document.querySelector("#add-registry")?.addEventListener("click", () => { addRegistry(base, secretNames()); });
  registries.addEventListener("click", (event) => { takeAway(event, "[data-remove-registry]", "registry", base); });
  need("#volumes").addEventListener("click", (event) => {
    takeAway(event, "[data-remove-volume]", "volume", place.api.replace(/\/[^/]+$/, ""));
  });
}

function secretNames(): string[] {
  return JSON.parse(need("#secret-names").dataset["names"] ?? "[]") as string[];
}

/** The upload target in the page's volume. */
export interface Place {
  /** The volume's path below /api/v1. */
  api: string;
  /** The folder in it. */
  path: string;
}

function writable(files: HTMLElement, place: Place): void {
  const chosen = need<HTMLInputElement>("#chosen");
  need("#upload").addEventListener("click", () => { chosen.click(); });
  chosen.addEventListener("change", () => {
    const picked = [...(chosen.files ?? [])];
    chosen.value = "";
    void uploadAll(place, picked);
  });
  need("#new-folder").addEventListener("click", () => { newFolder(place); });
  // The whole page is a drop target: missing a small one would open the file.
  const carriesFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
  document.addEventListener("dragover", (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    files.toggleAttribute("data-over", true);
  });
  document.addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) files.toggleAttribute("data-over", false);
  });
  document.addEventListener("drop", (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    files.toggleAttribute("data-over", false);
    void uploadAll(place, [...(event.dataTransfer?.files ?? [])]);
  });
}

function onFileClick(event: MouseEvent, api: string): void {
  const row = around(event, "[data-file]");
  const path = row?.dataset["file"];
  if (!row || path === undefined) return;
  if (around(event, "[data-remove]")) void remove(api, path, row.dataset["kind"] === "folder");
  // A click that opens another tab gets the file itself.
  const plain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey;
  if (plain && around(event, "[data-preview]")) {
    event.preventDefault();
    void trying(() => showPreview(api, path));
  }
}

async function remove(api: string, path: string, folder: boolean): Promise<void> {
  const name = path.split("/").at(-1) ?? path;
  const text = folder ? t("storage.delete-folder-text") : t("storage.delete-file-text");
  const question = { title: t("storage.delete-name", { name }), text, action: t("storage.delete"), danger: true };
  if (!(await confirm(folder ? { ...question, typed: name } : question))) return;
  await trying(async () => {
    await request("DELETE", `${api}/file?path=${encodeURIComponent(path)}`);
    again(t("storage.deleted", { name }));
  });
}

function takeAway(event: Event, button: string, what: "volume" | "registry", base: string): void {
  const row = around(event, button) && around(event, `[data-${what}]`);
  const name = row?.dataset[what];
  if (!row || name === undefined) return;
  void (async () => {
    const title = t("storage.take-away-name", { name });
    const question = { title, text: t("storage.take-away-text"), action: t("storage.take-away"), danger: true };
    if (!(await confirm(question))) return;
    await trying(async () => {
      await request("DELETE", `${base}/${name}`, undefined, { etag: row.dataset["etag"] ?? "*" });
      toastLater(t("storage.taken-away", { name }));
      location.assign(location.pathname);
    });
  })();
}

function again(message: string): void {
  toastLater(message);
  location.reload();
}
