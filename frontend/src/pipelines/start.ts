//! The dialog that starts a run.

import { request } from "../api/client";
import type { Problem } from "../api/problem";
import { h, icon, need } from "../core/dom";
import { openDialog } from "../core/dialog";
import { onSubmit, trying } from "../core/form";
import { language, stateWord, t } from "../core/texts";
import { exact } from "../core/time";
import { toastLater } from "../core/toast";
import { chosen, fields, type Parameters } from "./parameters";
import { Places } from "./places";

/** Options, for partial runs and other actions after the start. */
export interface StartOptions {
  version?: number;
  /** The part to run, as in the API. */
  tasks?: { from: string } | { only: string };
  /** The part needs results of earlier tasks: the dialog asks for their run. */
  takesOver?: boolean;
  /** The dialog's title. */
  title?: string;
  /** Called with the run, instead of opening its page. */
  onStarted?: (run: string, warnings: Problem[]) => void;
}

interface Earlier {
  readonly id: string;
  readonly state: string;
  readonly created_at: string;
}

const OF = "tasks/of";

function earlierField(runs: readonly Earlier[]): HTMLElement {
  const line = ({ id, state, created_at: at }: Earlier) => t("pipeline.run-of-one", { run: id.slice(-8), when: exact(new Date(at), language()), state: stateWord(state) });
  const choices = [h("option", { value: "" }, t("pipeline.run-of-newest")), ...runs.map((run) => h("option", { value: run.id }, line(run)))];
  return h(
    "div",
    { class: "field", "data-field": OF },
    h("label", { class: "field-label", for: "run-of" }, t("pipeline.run-of")),
    h("select", { class: "input", id: "run-of", name: OF, "aria-describedby": "h-run-of" }, ...choices),
    h("p", { class: "field-help", id: "h-run-of" }, t("pipeline.run-of-help")),
  );
}

/**
 * Asks for the parameters of a stored pipeline, and for one of the `earlier` runs to reuse results from, and
 * starts the run.
 */
export function askStart(project: string, pipeline: string, parameters: Parameters, options: StartOptions = {}, earlier: readonly Earlier[] = []): void {
  const names = Object.keys(parameters);
  const go = h("button", { class: "button primary", type: "submit", form: "start-run" }, icon("run"), t("pipeline.run"));
  const cancel = h("button", { class: "button", type: "button" }, t("common.cancel"));
  const form = h("form", { class: "form", id: "start-run" }, ...fields(parameters));
  if (options.takesOver) form.prepend(earlierField(earlier));
  else if (names.length === 0) form.append(h("p", { class: "muted" }, t("pipeline.no-parameters")));
  // A partial run has the same target as the whole pipeline: the reused results are there.
  const places = options.tasks ? null : comparison(project, pipeline, parameters, form, options.version);
  const dialog = openDialog({ title: options.title ?? t("pipeline.run-title", { name: pipeline }), body: [form], actions: [cancel, go] });
  cancel.addEventListener("click", () => { dialog.close(); });
  onSubmit(form, async (data) => {
    const { version, tasks, onStarted } = options;
    const of = data.get(OF);
    const part = tasks && (typeof of === "string" && of !== "" ? { ...tasks, of } : tasks);
    const place = places?.chosen() ?? null;
    const body = {
      pipeline, parameters: chosen(parameters, data), ...(version === undefined ? {} : { version }), ...(part ? { tasks: part } : {}), ...(place === null ? {} : { place }),
    };
    const { data: started } = await request("POST", `/projects/${project}/runs`, body);
    dialog.close();
    if (onStarted) {
      onStarted(started.run.id, started.warnings as Problem[]);
      return;
    }
    toastLater(t("pipeline.started"));
    location.assign(`/runs/${started.run.id}`);
  });
  const first: HTMLElement = form.querySelector<HTMLElement>(".field:not(.places) :is(input, select, textarea)") ?? need(".dialog-foot .primary", dialog);
  first.focus();
}

/** The comparison of target clusters for the form's parameters. */
function comparison(project: string, pipeline: string, parameters: Parameters, form: HTMLFormElement, version: number | undefined): Places {
  const wanted = () => ({ pipeline, parameters: chosen(parameters, new FormData(form)), ...(version === undefined ? {} : { version }) });
  const places = new Places(project, wanted);
  form.append(places.element);
  form.addEventListener("input", (event) => { if (event.target instanceof Node && !places.element.contains(event.target)) places.later(); });
  void places.now();
  return places;
}

/** Loads a pipeline's parameters first. */
export async function askStartOf(project: string, pipeline: string, options?: StartOptions): Promise<void> {
  await trying(async () => {
    const [{ data }, earlier] = await Promise.all([
      request("GET", `/projects/${project}/pipelines/${pipeline}`),
      options?.takesOver ? request("GET", `/projects/${project}/runs?pipeline=${pipeline}&state=succeeded,failed,cancelled&limit=50`) : null,
    ]);
    askStart(project, pipeline, data.parameters as Parameters, options, earlier?.data.items);
  });
}
