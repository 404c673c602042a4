//! Clusters: an administrator adds, edits, checks and removes them, cordons and uncordons their nodes, and
//! marks an unhealthy GPU as repaired.

import { request } from "../api/client";
import { ask } from "../core/ask";
import { confirm, openDialog } from "../core/dialog";
import { all, h, icon } from "../core/dom";
import { field, input, required, said } from "../core/fields";
import { busy, trying } from "../core/form";
import { prose } from "../core/prose";
import { t } from "../core/texts";
import { toastLater } from "../core/toast";
import { fields, told, toldSecret } from "./cluster-form";

export function start(): void {
  document.querySelector("#add-cluster")?.addEventListener("click", add);
  for (const button of all<HTMLButtonElement>("[data-check]")) {
    const name = button.dataset["check"] ?? "";
    button.addEventListener("click", () => void busy(button, () => trying(() => look(name))));
  }
  for (const button of all<HTMLButtonElement>("[data-edit]")) {
    button.addEventListener("click", () => void trying(() => edit(button.dataset["edit"] ?? "")));
  }
  for (const button of all<HTMLButtonElement>("[data-remove]")) {
    button.addEventListener("click", () => void trying(() => remove(button.dataset["remove"] ?? "")));
  }
  for (const button of all<HTMLButtonElement>("[data-give-up]")) {
    button.addEventListener("click", () => void trying(() => giveUp(button.dataset["giveUp"] ?? "")));
  }
  for (const button of all<HTMLButtonElement>("[data-aside]")) {
    button.addEventListener("click", () => { setAside(button.dataset["aside"] ?? ""); });
  }
  for (const button of all<HTMLButtonElement>("[data-back]")) {
    button.addEventListener("click", () => void trying(() => takeBack(button.dataset["cluster"] ?? "", button.dataset["back"] ?? "")));
  }
  for (const button of all<HTMLButtonElement>("[data-whole]")) {
    button.addEventListener("click", () => void trying(() => takeCardBack(button.dataset["cluster"] ?? "", button.dataset["whole"] ?? "")));
  }
}

function add(): void {
  ask({
    title: t("clusters.add"),
    fields: [field("name", t("clusters.name"), required(input()), t("clusters.name-help")), ...fields({}, t("clusters.kubeconfig-help"))],
    action: t("clusters.add-it"),
    send: async (data) => {
      const settings = told(data);
      const kubeconfig = settings.access === "kubeconfig" ? said(data, "kubeconfig") : null;
      await request("POST", "/clusters", { name: said(data, "name"), kubeconfig, ...settings, ...toldSecret(data) });
      toastLater(t("clusters.added", { name: said(data, "name") }));
      location.reload();
    },
  });
}

/** Edits a cluster's current settings; settings outside of the form are unchanged. */
async function edit(name: string): Promise<void> {
  const { data: present, etag } = await request("GET", `/clusters/${name}/settings`);
  ask({
    title: t("clusters.change-name", { name }),
    fields: fields(present, t("clusters.kubeconfig-stays")),
    action: t("clusters.save"),
    send: async (data) => {
      const settings = told(data);
      // An empty kubeconfig keeps the stored one; if none is used any more, an empty one replaces it.
      const kubeconfig = settings.access === "kubeconfig" ? said(data, "kubeconfig") || null : "";
      await request("PUT", `/clusters/${name}`, { ...present, ...settings, ...toldSecret(data), kubeconfig }, etag === null ? {} : { etag });
      toastLater(t("clusters.changed", { name }));
      location.reload();
    },
  });
}

/** Queries the cluster's resources, and shows them. */
async function look(name: string): Promise<void> {
  const { data } = await request("GET", `/clusters/${name}/check`);
  const sign = (good: boolean) => h("span", { class: good ? "tag good" : "tag" }, icon(good ? "check" : "minus"), t(good ? /* text */ "clusters.there" : /* text */ "clusters.not-there"));
  const problems = data.problems.map((problem) => h("p", { class: "sentence" }, ...prose(problem)));
  const kind = data.error === undefined ? "info" : "error";
  const told = problems.length > 0 && h("div", { class: `callout ${kind}`, role: "note" }, icon(kind), h("div", {}, ...problems));
  const part = (one: { name: string; purpose: string; found: boolean; version?: string | null }) => h("tr", {},
    h("th", { scope: "row" }, one.name, h("p", { class: "muted small" }, one.purpose)),
    h("td", {}, sign(one.found), one.version ? h("code", {}, one.version) : null));
  const parts = data.parts.map(part);
  const frameworks = data.frameworks.map((framework) => h("tr", {},
    h("th", { scope: "row" }, h("code", {}, framework.name)),
    h("td", {}, framework.object, h("p", { class: "muted small sentence" }, ...prose(framework.why)))));
  const table = (title: string, rows: HTMLElement[]) => rows.length > 0
    && h("section", { class: "section" }, h("h3", {}, title), h("div", { class: "table-box" }, h("table", { class: "table" }, h("tbody", {}, ...rows))));
  const version = data.version ? h("p", { class: "muted" }, /^slurm/.test(data.version) ? data.version : `Kubernetes ${data.version}`) : null;
  const body = h("div", {}, version, told, table(t("clusters.parts"), data.error === undefined ? parts : []), table(t("clusters.frameworks"), frameworks), table(t("clusters.exporters"), data.exporters.map(part)));
  openDialog({ title: t("clusters.checked", { name }), body: [body], large: true });
}

async function remove(name: string): Promise<void> {
  const question = { title: t("clusters.remove-name", { name }), text: t("clusters.remove-text"), action: t("clusters.remove"), danger: true };
  if (!(await confirm(question))) return;
  const { etag } = await request("GET", `/clusters/${name}/settings`);
  await request("DELETE", `/clusters/${name}`, undefined, etag === null ? {} : { etag });
  toastLater(t("clusters.removed", { name }));
  location.reload();
}

/**
 * Gives up a cluster that will not return: its attempts count as lost, so that their runs end and it can be
 * removed.
 */
async function giveUp(name: string): Promise<void> {
  const question = { title: t("clusters.give-up-name", { name }), text: t("clusters.give-up-text"), action: t("clusters.give-up"), danger: true };
  if (!(await confirm(question))) return;
  await request("POST", `/clusters/${name}/give-up`);
  toastLater(t("clusters.given-up", { name }));
  location.reload();
}

/** Asks for the node and the reason. Nodes that are not ready are not in the list. */
function setAside(cluster: string): void {
  ask({
    title: t("clusters.aside-set-name", { name: cluster }),
    fields: [field("node", t("clusters.aside-node"), required(input())), field("note", t("clusters.aside-note"), required(input()), t("clusters.aside-note-help"))],
    action: t("clusters.aside-do"),
    send: async (form) => {
      const node = said(form, "node");
      await request("PUT", `/clusters/${cluster}/aside/${node}`, { note: said(form, "note") });
      toastLater(t("clusters.aside-done", { name: node }));
      location.reload();
    },
  });
}

async function takeBack(cluster: string, node: string): Promise<void> {
  const question = { title: t("clusters.aside-back-name", { name: node }), text: t("clusters.aside-back-text"), action: t("clusters.aside-back") };
  if (!(await confirm(question))) return;
  await request("DELETE", `/clusters/${cluster}/aside/${node}`);
  toastLater(t("clusters.aside-back-done", { name: node }));
  location.reload();
}

/** Marks an unhealthy GPU as repaired: jobs may use it again. */
async function takeCardBack(cluster: string, gpu: string): Promise<void> {
  const question = { title: t("clusters.faulty-back-name", { name: gpu }), text: t("clusters.faulty-back-text"), action: t("clusters.aside-back") };
  if (!(await confirm(question))) return;
  await request("DELETE", `/clusters/${cluster}/gpus/${encodeURIComponent(gpu)}/fault`);
  toastLater(t("clusters.faulty-back-done", { name: gpu }));
  location.reload();
}
