//! The form of a cluster.

import type { components } from "../api/schema";
import { h, icon } from "../core/dom";
import { check, field, input, required, said, select } from "../core/fields";
import { t } from "../core/texts";

/** The settings of a cluster. */
export type Settings = Omit<components["schemas"]["ClusterBody"], "description">;
type Group = components["schemas"]["NodeGroupBody"];

/** The fields; `present` are the current settings. */
export function fields(present: Readonly<Partial<Settings>>, kubeconfigHelp: string): HTMLElement[] {
  const kubeconfig = h("textarea", { class: "input mono", rows: "4", spellcheck: "false" });
  // Only offered if the server supports it.
  const withSlurm = present.access === "slurm" || document.querySelector("[data-slurm]") !== null;
  const access = select([
    ["kubeconfig", t("clusters.with-kubeconfig")],
    ["in_cluster", t("clusters.in-cluster")],
    ...(withSlurm ? [["slurm", t("clusters.with-slurm")] as [string, string]] : []),
  ], present.access);
  const ofSlurm = h("div", { class: "form-part" }, field("slurm", t("clusters.slurm"), slurm(present.slurm), t("clusters.slurm-help")));
  const ofKubernetes = h("div", { class: "form-part" }, ...kubernetes(present, kubeconfig, kubeconfigHelp));
  const show = () => {
    ofSlurm.hidden = access.value !== "slurm";
    ofKubernetes.hidden = !ofSlurm.hidden;
    kubeconfig.closest<HTMLElement>(".field")?.toggleAttribute("hidden", access.value !== "kubeconfig");
  };
  access.addEventListener("change", show);
  show();
  return [field("access", t("clusters.access"), access), ofSlurm, ofKubernetes];
}

/** The settings of a Kubernetes cluster. */
function kubernetes(present: Readonly<Partial<Settings>>, kubeconfig: HTMLTextAreaElement, kubeconfigHelp: string): HTMLElement[] {
  return [
    field("kubeconfig", t("clusters.kubeconfig"), kubeconfig, kubeconfigHelp),
    field("context", t("clusters.context"), input(present.context ?? ""), t("clusters.context-help")),
    field("namespace", t("clusters.namespace"), required(input(present.namespace ?? "cubeloom-jobs")), t("clusters.namespace-help")),
    row(
      field("workspace_claim", t("clusters.claim"), required(input(present.workspace_claim ?? "cubeloom-workspace"))),
      field("workspace_path", t("clusters.claim-folder"), input(present.workspace_path ?? "{project}"))),
    check("operators_gang", t("clusters.gang"), present.operators_gang ?? false, t("clusters.gang-help")),
    groups(present.node_groups ?? {}),
    h("details", { class: "form-more" }, h("summary", {}, t("clusters.more")), ...more(present)),
  ];
}

/** The required settings of a Slurm cluster, as a template. */
const SLURM = {
  facts: {
    workspace: "/shared/workspaces/{project}",
    templates: "/shared/workspaces/{project}/.templates",
    program: "/shared/bin/cubeloom",
  },
  way: { accounts: {} },
};

/** The settings of a Slurm cluster, as JSON. */
function slurm(present: unknown): HTMLElement {
  const made = h("textarea", { class: "input mono", rows: "12", spellcheck: "false" });
  made.value = JSON.stringify(present ?? SLURM, null, 2);
  return made;
}

/** Parses the JSON; invalid text is sent unchanged, and rejected at its field. */
function toldSlurm(text: string): Record<string, unknown> | null {
  if (text === "") return null;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return text as unknown as Record<string, unknown>;
  }
}

/** Rarely changed settings. */
function more(present: Readonly<Partial<Settings>>): HTMLElement[] {
  return [
    row(
      field("service_account", t("clusters.service-account"), required(input(present.service_account ?? "cubeloom-worker")), t("clusters.service-account-help")),
      field("spark_account", t("clusters.spark-account"), input(present.spark_account ?? ""), t("clusters.spark-account-help"))),
    row(
      field("uid", t("clusters.uid"), number(present.uid ?? 10_000, 1), t("clusters.uid-help")),
      field("pull_secrets", t("clusters.pull-secrets"), input((present.pull_secrets ?? []).join(", ")), t("clusters.pull-secrets-help"))),
    row(
      field("volcano_queue", t("clusters.volcano-queue"), required(input(present.volcano_queue ?? "default")), t("clusters.volcano-queue-help")),
      field("kueue_queue", t("clusters.kueue-queue"), input(present.kueue_queue ?? ""), t("clusters.kueue-queue-help"))),
    row(
      field("kai_queue", t("clusters.kai-queue"), input(present.kai_queue ?? ""), t("clusters.kai-queue-help")),
      field("priority_class", t("clusters.priority-class"), input(present.priority_class ?? ""))),
    check("host_network", t("clusters.host-network"), present.host_network ?? false, t("clusters.host-network-help")),
    row(
      field("patience_seconds", t("clusters.patience"), number(present.patience_seconds ?? 600, 0), t("clusters.patience-help")),
      field("keep_seconds", t("clusters.keep"), number(present.keep_seconds ?? 3600, 0), t("clusters.keep-help"))),
    field("prometheus", t("clusters.prometheus"), input(present.prometheus ?? ""), t("clusters.prometheus-help")),
    row(
      field("prometheus_user", t("clusters.prometheus-user"), input(present.prometheus_user ?? ""), t("clusters.prometheus-user-help")),
      field("prometheus_secret", t("clusters.prometheus-secret"), secret(), t("clusters.prometheus-secret-help"))),
    row(
      field("prometheus_labels", t("clusters.prometheus-labels"), input(pairs(present.prometheus_labels ?? {})), t("clusters.prometheus-labels-help")),
      field("grafana", t("clusters.grafana"), input(present.grafana ?? ""), t("clusters.grafana-help"))),
  ];
}

/** Browsers neither store nor show its value. */
function secret(): HTMLInputElement {
  return h("input", { class: "input", type: "password", autocomplete: "new-password" });
}

/** The password or token for Prometheus, if one was typed. */
export function toldSecret(data: FormData): { prometheus_secret?: string } {
  const typed = said(data, "prometheus_secret");
  return typed === "" ? {} : { prometheus_secret: typed };
}

function row(...inside: HTMLElement[]): HTMLElement {
  return h("div", { class: "form-row" }, ...inside);
}

function number(value: number, min: number): HTMLInputElement {
  const made = required(input(String(value), "number"));
  made.min = String(min);
  return made;
}

/**
 * Node groups: a name, the labels of its nodes, and their taints, in the syntax of `kubectl label` and
 * `kubectl taint`.
 */
function groups(present: Readonly<Record<string, Group>>): HTMLElement {
  const cell = (name: string, label: string, value: string, placeholder: string) => {
    const made = input(value);
    made.name = name;
    made.placeholder = placeholder;
    return h("label", { class: "field" }, h("span", { class: "field-label" }, label), made);
  };
  const lines = h("div", { class: "form-lines" });
  const add = (name: string, group: Group) => {
    const remove = h("button", { class: "button quiet icon-only", type: "button", "aria-label": t("clusters.group-remove"), title: t("clusters.group-remove") }, icon("trash"));
    const env = cell("group-env", t("clusters.group-env"), variables(group), "NCCL_SOCKET_IFNAME=ib0");
    env.classList.add("field-whole");
    const spares = cell("group-spares", t("clusters.group-spares"), String(group.spares), "0");
    const count = spares.querySelector("input");
    if (count) Object.assign(count, { type: "number", min: "0", max: "1000", required: true });
    spares.append(h("span", { class: "field-help" }, t("clusters.group-spares-help")));
    spares.classList.add("field-whole");
    const line = h("div", { class: "form-line" },
      cell("group-name", t("clusters.group-name"), name, "h100"),
      cell("group-labels", t("clusters.group-labels"), pairs(group.selector), "pool=h100"),
      cell("group-taints", t("clusters.group-taints"), taints(group), "gpu:NoSchedule"),
      remove,
      env,
      spares);
    remove.addEventListener("click", () => {
      line.remove();
      more.focus();
    });
    lines.append(line);
    return line;
  };
  for (const [name, group] of Object.entries(present)) add(name, group);
  const more = h("button", { class: "button small", type: "button" }, icon("plus"), t("clusters.group-add"));
  more.addEventListener("click", () => {
    add("", { selector: {}, tolerations: [], env: {}, spares: 0 }).querySelector("input")?.focus();
  });
  return h("fieldset", { class: "field", "data-field": "node_groups" },
    h("legend", { class: "field-label" }, t("clusters.groups")),
    h("p", { class: "field-help" }, t("clusters.groups-help")),
    lines,
    h("div", {}, more));
}

/** Comma-separated `key=value` pairs. */
function pairs(named: Readonly<Record<string, string>>): string {
  return Object.entries(named).map(([key, value]) => `${key}=${value}`).join(", ");
}

/** Parses such pairs. */
function toldPairs(text: string): Record<string, string> {
  return Object.fromEntries(parts(text).map((pair) => split(pair, "=")));
}

function taints(group: Group): string {
  const written = ({ key, value, effect }: Taint) => `${key}${value == null ? "" : `=${value}`}${effect == null ? "" : `:${effect}`}`;
  return group.tolerations.map((one) => written(one as unknown as Taint)).join(", ");
}

/** Separated by spaces: values may contain commas. */
function variables(group: Group): string {
  return Object.entries(group.env).map(([name, value]) => `${name}=${value}`).join(" ");
}

/** A tolerated taint. */
interface Taint {
  key: string;
  value?: string | null;
  effect?: string | null;
}

function toldAccess(word: string): Settings["access"] {
  return word === "in_cluster" || word === "slurm" ? word : "kubeconfig";
}

/** The settings in the form. */
export function told(data: FormData): Settings {
  const list = (name: string) => parts(said(data, name));
  const maybe = (name: string) => said(data, name) || null;
  const count = (name: string) => Number(said(data, name));
  return {
    access: toldAccess(said(data, "access")),
    slurm: said(data, "access") === "slurm" ? toldSlurm(said(data, "slurm")) : null,
    context: maybe("context"),
    namespace: said(data, "namespace"),
    workspace_claim: said(data, "workspace_claim"),
    workspace_path: said(data, "workspace_path"),
    operators_gang: data.has("operators_gang"),
    node_groups: toldGroups(data),
    service_account: said(data, "service_account"),
    spark_account: maybe("spark_account"),
    uid: count("uid"),
    pull_secrets: list("pull_secrets"),
    volcano_queue: said(data, "volcano_queue"),
    kueue_queue: maybe("kueue_queue"),
    kai_queue: maybe("kai_queue"),
    priority_class: maybe("priority_class"),
    host_network: data.has("host_network"),
    patience_seconds: count("patience_seconds"),
    keep_seconds: count("keep_seconds"),
    prometheus: maybe("prometheus"),
    prometheus_user: maybe("prometheus_user"),
    prometheus_labels: toldPairs(said(data, "prometheus_labels")),
    grafana: maybe("grafana"),
  };
}

function toldGroups(data: FormData): Record<string, Group> {
  const column = (name: string) => data.getAll(name).map((value) => (typeof value === "string" ? value.trim() : ""));
  const [names, nodes, tolerated, env, spares] = [column("group-name"), column("group-labels"), column("group-taints"), column("group-env"), column("group-spares")];
  const group = (at: number): Group => ({
    selector: toldPairs(nodes[at] ?? ""),
    tolerations: parts(tolerated[at] ?? "").map((text) => ({ ...taint(text) })),
    env: Object.fromEntries((env[at] ?? "").split(/\s+/).filter(Boolean).map((variable) => split(variable, "="))),
    spares: Number(spares[at] ?? 0),
  });
  const filled = names.map((name, at): [string, Group] => [name, group(at)]);
  // A new row that was left empty is ignored.
  return Object.fromEntries(filled.filter(([name], at) => name !== "" || Boolean(nodes[at]) || Boolean(tolerated[at]) || Boolean(env[at])));
}

function taint(text: string): Taint {
  const [what, effect] = split(text, ":");
  const [key, value] = split(what, "=");
  return { key, ...(what.includes("=") ? { value } : {}), ...(effect ? { effect } : {}) };
}

/** The parts before and after the first separator. */
function split(text: string, sign: string): [string, string] {
  const at = text.indexOf(sign);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function parts(text: string): string[] {
  return text.split(",").map((part) => part.trim()).filter(Boolean);
}
