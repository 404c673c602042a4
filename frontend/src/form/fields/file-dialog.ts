//! A file chooser: of the pipeline's folder, of the project's shared folder, or of a volume.

import { openDialog } from "../../core/dialog";
import { h, icon } from "../../core/dom";
import { t } from "../../core/texts";
import type { Knowledge } from "../knowledge";
import { bytesShown } from "../quantity";
import type { VolumeUse } from "../task/uses";
import { placesOf, type FilePlace, type PlaceEntry } from "./file-places";

/** Opens the list; resolves to the path to write, or null if cancelled. */
export function chooseFile(knowledge: Knowledge, uses: readonly VolumeUse[], title: string): Promise<string | null> {
  return new Promise((resolve) => {
    const chooser = new Chooser();
    const dialog = openDialog({ title: t("form.choose-file", { field: title }), body: chooser.parts });
    dialog.addEventListener("close", () => { resolve(dialog.returnValue === "" ? null : dialog.returnValue); });
    chooser.onChoose = (written) => { dialog.close(written); };
    void chooser.trying(async () => { await chooser.begin(await placesOf(knowledge, uses)); });
  });
}

class Chooser {
  onChoose: (written: string) => void = () => undefined;
  readonly #search = h("input", { class: "input", type: "search", placeholder: t("form.search-files"), "aria-label": t("form.search-files") });
  readonly #list = h("ul", { class: "file-list" });
  readonly #said = h("p", { class: "muted", role: "status" }, t("form.loading"));
  readonly #where = h("select", { class: "input", "aria-label": t("form.place") });
  #places: FilePlace[] = [];
  #place: FilePlace | undefined;
  #folder = "";
  #entries: PlaceEntry[] = [];

  constructor() {
    this.#search.addEventListener("input", () => { this.#paint(); });
    this.#where.addEventListener("change", () => void this.trying(() => this.#open(this.#places[this.#where.selectedIndex], "")));
  }

  get parts(): HTMLElement[] {
    return [this.#where, this.#search, this.#said, this.#list];
  }

  begin(places: FilePlace[]): Promise<void> {
    this.#places = places;
    this.#where.replaceChildren(...places.map(({ id, title }) => h("option", { value: id }, title)));
    return this.#open(places[0], "");
  }

  /** Errors are shown in the dialog. */
  async trying(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#said.textContent = error instanceof Error ? error.message : String(error);
    }
  }

  async #open(place: FilePlace | undefined, folder: string): Promise<void> {
    if (!place) return;
    this.#place = place;
    this.#folder = folder;
    this.#search.value = "";
    this.#list.replaceChildren();
    this.#said.textContent = t("form.loading");
    const entries = await place.list(folder);
    // The user has moved to another folder.
    if (this.#place !== place || this.#folder !== folder) return;
    this.#entries = entries;
    this.#paint();
  }

  #paint(): void {
    const place = this.#place;
    if (!place) return;
    const found = this.#entries.filter(({ path }) => path.toLowerCase().includes(this.#search.value.trim().toLowerCase()));
    const up = this.#folder === "" ? [] : [this.#line("arrow-left", t("form.folder-up"), "", () => this.#open(place, this.#folder.split("/").slice(0, -1).join("/")))];
    this.#list.replaceChildren(...up, ...found.map((entry) => this.#entry(place, entry)));
    this.#said.textContent = this.#entries.length === 0 ? place.empty : found.length === 0 ? t("form.no-file-found") : this.#folder;
  }

  #entry(place: FilePlace, { path, folder, bytes }: PlaceEntry): HTMLElement {
    const name = this.#folder === "" ? path : path.slice(this.#folder.length + 1);
    if (folder) return this.#line("folder", name, "", () => this.#open(place, path));
    return this.#line("file", name, bytesShown(bytes), () => { this.onChoose(place.written(path)); });
  }

  #line(picture: string, name: string, detail: string, act: () => Promise<void> | void): HTMLElement {
    const words = [icon(picture), h("span", { class: "mono" }, name), h("span", { class: "faint small" }, detail)];
    return h("li", {}, h("button", { type: "button", class: "menu-item", onclick: () => void this.trying(async () => { await act(); }) }, ...words));
  }
}
