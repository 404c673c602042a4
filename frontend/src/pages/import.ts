//! Files of another platform: sent to the API, what became of them is shown, and a pipeline is saved from here.

import { request } from "../api/client";
import { ApiProblem } from "../api/problem";
import { h, icon, need } from "../core/dom";
import { busy, onSubmit, trying } from "../core/form";
import { t } from "../core/texts";

interface Made {
  kind: "pipeline" | "task_template";
  name: string;
  document: string;
  notes: string[];
}

interface Line {
  fate: "changed" | "left_out" | "problem";
  path: string;
  message: string;
}

/** Starts the page. */
export function start(): void {
  const form = need<HTMLFormElement>("#import");
  const project = form.dataset["project"] ?? "";
  onSubmit(form, async (data) => {
    const text = async (name: string): Promise<string | undefined> => {
      const file = data.get(name);
      return file instanceof File && file.size > 0 ? file.text() : undefined;
    };
    const file = await text("file");
    if (file === undefined) {
      throw new ApiProblem(422, { problems: [{ severity: "error", code: "missing_key", path: "/file", message: t("import.choose") }] });
    }
    const name = need<HTMLInputElement>("#f-name").value.trim();
    const body = { file, templates: (await text("templates")) ?? null, name: name || null };
    const { data: made } = await request("POST", `/projects/${project}/import`, body);
    const place = need("#made");
    place.replaceChildren(...documents(project, made.documents as Made[]), ...report(made.report as Line[]));
    place.querySelector("h2")?.focus();
  });
}

function documents(project: string, made: Made[]): Node[] {
  const rows = made.map((one) => h("tr", {},
    h("td", { "data-label": t("import.document") }, h("strong", {}, one.name)),
    h("td", { "data-label": t("import.kind") }, one.kind === "pipeline" ? t("import.pipeline") : t("import.template")),
    h("td", { "data-label": t("import.notes"), class: "number" }, one.notes.length),
    h("td", { class: "shrink" }, h("div", { class: "actions" }, one.kind === "pipeline" && save(project, one), download(one)))));
  const head = [t("import.document"), t("import.kind"), t("import.notes")].map((text) => h("th", {}, text));
  head.push(h("th", {}, h("span", { class: "visually-hidden" }, t("import.actions"))));
  return [section(h("h2", { tabindex: "-1" }, t("import.documents")), table(head, rows))];
}

function section(title: Node, body: Node): Node {
  return h("section", { class: "section" }, h("div", { class: "section-head" }, title), body);
}

function table(head: Node[], rows: Node[]): Node {
  return h("div", { class: "table-box" }, h("table", { class: "table cards" }, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...rows)));
}

function save(project: string, one: Made): Node {
  const button = h("button", { class: "button small primary", type: "button", "aria-label": t("import.save-name", { name: one.name }) }, t("import.save"));
  button.addEventListener("click", () => {
    void busy(button, () => trying(async () => {
      const body = { document: one.document, message: t("import.message") };
      const { data } = await request("POST", `/projects/${project}/pipelines`, body);
      location.assign(`/projects/${project}/pipelines/${data.name}/edit`);
    }));
  });
  return button;
}

function download(one: Made): Node {
  const url = URL.createObjectURL(new Blob([one.document], { type: "application/yaml" }));
  const name = one.kind === "pipeline" ? `${one.name}.yaml` : `${one.name}-template.yaml`;
  return h("a", { class: "button small", href: url, download: name, "aria-label": t("import.download-name", { name: one.name }) }, icon("download"), t("import.download"));
}

function report(lines: Line[]): Node[] {
  const title = h("h2", {}, t("import.report"));
  if (lines.length === 0) return [section(title, h("p", { class: "muted" }, t("import.report-none")))];
  const words = { changed: t("import.changed"), left_out: t("import.left-out"), problem: t("import.problem") };
  const signs = { changed: "info", left_out: "close", problem: "warning" };
  // What somebody has to do comes first.
  const order = ["problem", "changed", "left_out"];
  const sorted = [...lines].sort((a, b) => order.indexOf(a.fate) - order.indexOf(b.fate));
  const rows = sorted.map((line) => h("tr", {},
    h("td", { "data-label": t("import.fate"), class: "shrink" }, h("span", { class: "state" }, icon(signs[line.fate]), h("span", {}, words[line.fate]))),
    h("td", { "data-label": t("import.where") }, h("code", {}, line.path || "/")),
    h("td", { "data-label": t("import.what") }, line.message)));
  const head = [t("import.fate"), t("import.where"), t("import.what")].map((text) => h("th", {}, text));
  return [section(title, table(head, rows))];
}
