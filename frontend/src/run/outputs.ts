// The outputs tab: a file is loaded when its preview is opened.

import { request } from "../api/client";
import { h } from "../core/dom";
import { whenOpened } from "../core/opened";
import { t } from "../core/texts";
import type { Tab } from "./tab";

/** The beginning of a file, as in the API. */
interface Preview {
  readonly truncated: boolean;
  /** Text, or JSON formatted with one member per line. */
  readonly text?: string;
  /** The first row of a table, and the others. */
  readonly columns?: string[];
  readonly rows?: string[][];
}

export function open(): Tab {
  whenOpened("preview", (box) => void fill(box));
  return { refreshed: () => undefined };
}

async function fill(box: HTMLDetailsElement): Promise<void> {
  const body = box.querySelector<HTMLElement>(".artifact-body");
  if (body === null || body.childElementCount > 0) return;
  try {
    body.replaceChildren(...(box.dataset["preview"] === "html" ? [frame(box)] : await shown(box)));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    body.replaceChildren(h("p", { class: "muted" }, t("run.preview-failed", { message })));
  }
}

/** An HTML file of a program in a sandbox: it runs no scripts, and cannot access this page. */
function frame(box: HTMLDetailsElement): HTMLElement {
  const title = box.dataset["title"] ?? "";
  return h("iframe", { class: "artifact-frame", sandbox: true, src: box.dataset["url"], title, loading: "lazy" });
}

async function shown(box: HTMLDetailsElement): Promise<HTMLElement[]> {
  const data = (await request("GET", box.dataset["shown"] ?? "")).data as Preview;
  const cut = data.truncated ? [h("p", { class: "muted small" }, t("run.preview-cut"))] : [];
  return [content(data), ...cut];
}

function content(preview: Preview): HTMLElement {
  if (preview.rows !== undefined) return table(preview.columns ?? [], preview.rows);
  return h("div", { class: "code" }, h("pre", { tabindex: 0 }, preview.text ?? ""));
}

function table(header: readonly string[], rows: readonly string[][]): HTMLElement {
  const head = h("thead", {}, h("tr", {}, ...header.map((cell) => h("th", { scope: "col" }, cell))));
  const body = h("tbody", {}, ...rows.map((row) => h("tr", {}, ...row.map((cell) => h("td", {}, cell)))));
  return h("div", { class: "table-box" }, h("table", { class: "table" }, head, body));
}
