//! Choosing a file of the pipeline's folder.

import { request } from "../../api/client";
import { openDialog } from "../../core/dialog";
import { h, icon } from "../../core/dom";
import { t } from "../../core/texts";
import type { Knowledge } from "../knowledge";
import { bytesShown } from "../quantity";

interface CodeFile {
  path: string;
  bytes: number;
}

/** Opens the list; resolves to a path below the folder, or null when nothing was chosen. */
export function chooseFile({ project, code }: Knowledge, title: string): Promise<string | null> {
  return new Promise((resolve) => {
    const search = h("input", { class: "input", type: "search", placeholder: t("form.search-files"), "aria-label": t("form.search-files") });
    const list = h("ul", { class: "file-list" });
    const said = h("p", { class: "muted", role: "status" }, t("form.loading"));
    const dialog = openDialog({ title: t("form.choose-file", { field: title }), body: [search, said, list] });
    dialog.addEventListener("close", () => { resolve(dialog.returnValue === "" ? null : dialog.returnValue); });
    let files: CodeFile[] = [];
    const paint = () => {
      const found = files.filter(({ path }) => path.toLowerCase().includes(search.value.trim().toLowerCase()));
      list.replaceChildren(...found.map(({ path, bytes }) => h("li", {}, h(
        "button", { type: "button", class: "menu-item", onclick: () => { dialog.close(path); } },
        icon("file"), h("span", { class: "mono" }, path), h("span", { class: "faint small" }, bytesShown(bytes)),
      ))));
      said.textContent = files.length === 0 ? t("form.no-files") : found.length === 0 ? t("form.no-file-found") : "";
    };
    search.addEventListener("input", paint);
    void load(project, code).then(
      (found) => {
        files = found;
        paint();
      },
      (error: unknown) => { said.textContent = error instanceof Error ? error.message : String(error); },
    );
  });
}

async function load(project: string, code: string | null): Promise<CodeFile[]> {
  if (code === null) return [];
  const { data } = await request("GET", `/projects/${project}/code/${code}`);
  return data.files;
}
