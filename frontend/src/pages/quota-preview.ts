//! The impact of quota edits, as a live part of a dialog.

import { request } from "../api/client";
import { ApiProblem } from "../api/problem";
import type { Answered, Body } from "../api/typed";
import { h, icon } from "../core/dom";
import { prose } from "../core/prose";
import { t } from "../core/texts";

export type Edit = Body<"POST", "/quotas/preview">["edits"][number];
type Effect = Answered<"POST", "/quotas/preview">;
type Affected = Effect["over"];
type Job = Affected["jobs"][number];

/** The maximum number of jobs listed individually. */
const TOLD = 8;
/** The delay after the last key press, in milliseconds. */
const PAUSE = 350;

/** Shows the impact of the edits. `edits` returns them; none while they are invalid. */
export class Preview {
  readonly element = h("div", { class: "quota-preview", "aria-live": "polite" });
  private timer = 0;
  private turn = 0;

  constructor(private readonly edits: () => Edit[] | null) {}

  /** Called after input changes. */
  later(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.now(), PAUSE);
  }

  /** Requests and shows the impact; an outdated response is ignored. */
  async now(): Promise<void> {
    const edits = this.edits();
    this.turn += 1;
    const { turn } = this;
    if (edits === null) { this.element.replaceChildren(); return; }
    const shown = await asked(edits);
    if (turn === this.turn) this.element.replaceChildren(h("h3", {}, t("quotas.preview")), ...shown);
  }
}

async function asked(edits: Edit[]): Promise<HTMLElement[]> {
  try {
    const { data } = await request("POST", "/quotas/preview", { edits });
    return effects(data);
  } catch (error) {
    const problems = error instanceof ApiProblem ? error.problems.map((one) => one.message) : [];
    return [callout("warning", problems.length > 0 ? problems : [error instanceof Error ? error.message : String(error)])];
  }
}

function callout(kind: string, messages: string[]): HTMLElement {
  const lines = messages.map((message) => h("p", { class: "sentence" }, ...prose(message)));
  return h("div", { class: `callout ${kind}`, role: "note" }, icon(kind), h("div", {}, ...lines));
}

function effects(effect: Effect): HTMLElement[] {
  const refused = effect.problems.map((one) => one.message);
  const shown = [
    refused.length > 0 && h("div", {}, h("p", { class: "field-label" }, t("quotas.preview-refused")), callout("warning", refused)),
    jobs(t("quotas.preview-over", { n: effect.over.count }), effect.over),
    jobs(t("quotas.preview-back", { n: effect.give_back.count }), effect.give_back),
    jobs(t("quotas.preview-start", { n: effect.start.count }), effect.start),
    jobs(t("quotas.preview-wait", { n: effect.wait.count }), effect.wait),
    effect.unknown.length > 0 && h("p", { class: "muted" }, t("quotas.preview-unknown", { clusters: effect.unknown.join(", ") })),
  ].filter((part) => part !== false);
  return shown.length > 0 ? shown : [h("p", { class: "muted" }, t("quotas.preview-none"))];
}

function jobs(title: string, affected: Affected): HTMLElement | false {
  if (affected.count === 0) return false;
  const told = affected.jobs.slice(0, TOLD).map((job) => h("li", {}, h("a", { href: `/runs/${job.run}/tasks/${job.task}` }, said(job))));
  const more = affected.count - told.length;
  const rest = more > 0 && h("li", { class: "muted" }, t("quotas.more-jobs", { n: more }));
  return h("div", {}, h("p", { class: "field-label" }, title), h("ul", { class: "small" }, ...told, rest));
}

function said(job: Job): string {
  const amounts = Object.entries(job.amounts).map(([resource, amount]) => `${String(amount)} ${resource}`).join(", ");
  return t("quotas.job", { project: job.project, pipeline: job.pipeline, task: job.task, amounts });
}
