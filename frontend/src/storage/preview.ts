//! A file's content in a dialog: text, tables, images; HTML in a sandboxed frame.

import { request } from "../api/client";
import { openDialog } from "../core/dialog";
import { h, icon } from "../core/dom";
import { t } from "../core/texts";
import { bytes } from "../core/time";

interface Preview {
  name: string;
  size: number;
  media_type: string;
  truncated: boolean;
  shown_as: "text" | "json" | "table" | "image" | "page" | "nothing";
  text?: string;
  columns?: string[];
  rows?: string[][];
}

/** Shows a file of the volume at `api`. */
export async function showPreview(api: string, path: string): Promise<void> {
  const query = `path=${encodeURIComponent(path)}`;
  const data = (await request("GET", `${api}/preview?${query}`)).data as Preview;
  const file = `/api/v1${api}/file?${query}`;
  const download = h("a", { class: "button primary", href: file, download: data.name }, icon("download"), t("storage.download"));
  const facts = h("p", { class: "muted small" }, `${data.media_type} · ${bytes(data.size)}`);
  const body: Node[] = [facts, content(data, `${file}&inline=true`)];
  if (data.truncated) body.push(h("p", { class: "muted small" }, t("storage.truncated")));
  openDialog({ title: data.name, body, actions: [download], large: true });
}

function content(data: Preview, inline: string): HTMLElement {
  switch (data.shown_as) {
    case "text":
    case "json":
      return h("div", { class: "code" }, h("pre", { tabindex: 0 }, h("code", {}, data.text ?? "")));
    case "table":
      return table(data.columns ?? [], data.rows ?? []);
    case "image":
      return h("img", { class: "files-image", src: inline, alt: data.name });
    case "page":
      return h("div", {}, h("p", { class: "muted small" }, t("storage.preview-page")),
        h("iframe", { class: "files-frame", src: inline, sandbox: "allow-scripts", title: data.name }));
    case "nothing":
      return h("p", {}, t("storage.no-preview"));
  }
}

function table(columns: string[], rows: string[][]): HTMLElement {
  const head = h("thead", {}, h("tr", {}, ...columns.map((name) => h("th", {}, name))));
  const body = h("tbody", {}, ...rows.map((row) => h("tr", {}, ...row.map((cell) => h("td", {}, cell)))));
  return h("div", { class: "table-box", tabindex: 0 }, h("table", { class: "table" }, head, body));
}
