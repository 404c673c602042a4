//! Import of another platform's files: they are sent to the API, the result is shown, and pipelines are saved
//! from here.

import { request } from "../api/client";
import { ApiProblem } from "../api/problem";
import { h, icon, need } from "../core/dom";
import { busy, onSubmit, trying } from "../core/form";
import { prose } from "../core/prose";
import { t } from "../core/texts";
import { toast } from "../core/toast";

interface Made {
  kind: "pipeline" | "task_template";
  name: string;
  document: string;
  notes: string[];
  /** Whether its name is taken, by the same or by other content. */
  taken?: "same" | "other";
}

interface Line {
  fate: "changed" | "left_out" | "problem";
  path: string;
  message: string;
}

export function start(): void {
  const form = need<HTMLFormElement>("#import");
  const project = form.dataset["project"] ?? "";
  onSubmit(form, async (data) => {
    const file = data.get("file");
    if (!(file instanceof File) || file.size === 0) {
      throw new ApiProblem(422, { problems: [{ severity: "error", code: "missing_key", path: "/file", message: t("import.choose") }] });
    }
    data.set("name", need<HTMLInputElement>("#f-name").value.trim());
    const { data: made } = await request("POST", `/projects/${project}/import`, data);
    const place = need("#made");
    place.replaceChildren(...documents(project, form.dataset["admin"] === "true", made.documents as Made[]), ...report(made.report as Line[]));
    place.querySelector("h2")?.focus();
  });
}

function documents(project: string, admin: boolean, made: Made[]): Node[] {
  const rows = made.map((one) => h("tr", {},
    h("td", { "data-label": t("import.document") }, h("div", {}, h("strong", {}, one.name), taken(one))),
    h("td", { "data-label": t("import.kind"), class: "shrink" }, one.kind === "pipeline" ? t("import.pipeline") : t("import.template")),
    h("td", { "data-label": t("import.notes"), class: "number" }, one.notes.length),
    h("td", { class: "shrink" }, h("div", { class: "actions" }, ...actions(project, admin, one)))));
  const head = [t("import.document"), t("import.kind"), t("import.notes")].map((text) => h("th", {}, text));
  head.push(h("th", {}, h("span", { class: "visually-hidden" }, t("import.actions"))));
  return [section(h("h2", { tabindex: "-1" }, t("import.documents")), table(head, rows))];
}

/** Items whose names are taken, and what to do about them. */
function taken(one: Made): Node | false {
  if (one.taken === undefined) return false;
  if (one.taken === "same") return h("p", { class: "muted small" }, t("import.same"));
  const advice = one.kind === "pipeline" ? t("import.taken-pipeline") : t("import.taken-template");
  return h("p", { class: "small" }, h("span", { class: "state" }, icon("warning"), h("strong", {}, t("import.taken"))), " · ", advice);
}

function actions(project: string, admin: boolean, one: Made): Node[] {
  if (one.taken !== undefined) return [download(one)];
  if (one.kind === "pipeline") return [save(project, one), download(one)];
  return admin ? [install(one), download(one)] : [download(one)];
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

function install(one: Made): Node {
  const button = h("button", { class: "button small primary", type: "button", "aria-label": t("import.install-name", { name: one.name }) }, t("import.install"));
  button.addEventListener("click", () => {
    void busy(button, () => trying(async () => {
      await request("POST", "/templates", { document: one.document });
      toast(t("import.installed", { name: one.name }));
      button.replaceWith(h("a", { class: "button small", href: `/templates/${one.name}` }, t("import.open")));
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
  // Lines that need an action come first.
  const order = ["problem", "changed", "left_out"];
  const sorted = together(lines).sort((a, b) => order.indexOf(a.fate) - order.indexOf(b.fate));
  const rows = sorted.map(({ fate, message, paths }) => h("tr", {},
    h("td", { "data-label": t("import.fate"), class: "shrink" }, h("span", { class: "state" }, icon(signs[fate]), h("span", {}, words[fate]))),
    h("td", {}, h("div", {}, ...prose(message))),
    h("td", {}, h("div", { class: "places", role: "list", "aria-label": t("import.where") }, ...paths.map((path) => h("code", { role: "listitem" }, path || "/"))))));
  const head = [t("import.fate"), t("import.what"), t("import.where")].map((text) => h("th", {}, text));
  return [section(title, table(head, rows))];
}

/** Merges equal messages of several paths. */
function together(lines: readonly Line[]): (Line & { paths: string[] })[] {
  const found = new Map<string, Line & { paths: string[] }>();
  for (const line of lines) {
    const key = `${line.fate} ${line.message}`;
    const same = found.get(key);
    if (same) same.paths.push(line.path);
    else found.set(key, { ...line, paths: [line.path] });
  }
  return [...found.values()];
}
