//! The dialog that starts a run.

import { request } from "../api/client";
import type { Problem } from "../api/problem";
import type { Body } from "../api/typed";
import { h, icon, need } from "../core/dom";
import { openDialog } from "../core/dialog";
import { onSubmit, trying } from "../core/form";
import { language, stateWord, t } from "../core/texts";
import { exact } from "../core/time";
import { toastLater } from "../core/toast";
import { chosen, fields, type Parameters } from "./parameters";
import { Places } from "./places";
import { SaveFirst, type Unsaved } from "./save-first";
import { insteadButton } from "./wrong";

/** Options, for partial runs, unsaved changes, and other actions after the start. */
export interface StartOptions {
  version?: number;
  /** The part to run, as in the API. */
  tasks?: { from: string } | { only: string };
  /** The part needs results of earlier tasks: the dialog asks for their run. */
  takesOver?: boolean;
  /** Changes that are saved before the run, in the same dialog. */
  unsaved?: Unsaved;
  /** The dialog's title. */
  title?: string;
  /** Called with the run, instead of opening its page. */
  onStarted?: (run: string, warnings: Problem[]) => void;
}

/** A run whose results may be reused. */
export interface Earlier {
  readonly id: string;
  readonly state: string;
  readonly created_at: string;
}

const FORM = "start-run";
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
 * Asks for the parameters of a pipeline, and for one of the `earlier` runs to reuse results from, and starts the
 * run.
 */
export function askStart(project: string, pipeline: string, parameters: Parameters, options: StartOptions = {}, earlier: readonly Earlier[] = []): void {
  const { unsaved } = options;
  const first = unsaved ? new SaveFirst(unsaved) : null;
  const go = h("button", { class: "button primary", type: "submit", form: FORM }, icon("run"), unsaved ? t("pipeline.save-and-run") : t("pipeline.run"));
  const cancel = h("button", { class: "button", type: "button" }, t("common.cancel"));
  const form = h("form", { class: "form", id: FORM }, ...asked(parameters, options, earlier, first));
  // A partial run has the same target as the whole pipeline: the reused results are there.
  const places = options.tasks ? null : comparison(project, unsaved?.source ?? stored(pipeline, options.version), parameters, form);
  const instead = unsaved?.instead ? [insteadButton(unsaved.instead, () => dialog)] : [];
  const dialog = openDialog({ title: options.title ?? t("pipeline.run-title", { name: pipeline }), body: [form], actions: [cancel, ...instead, go] });
  cancel.addEventListener("click", () => { dialog.close(); });
  onSubmit(form, async (data) => {
    const source = first ? await first.save(data) : stored(pipeline, options.version);
    if (source === null) {
      dialog.close();
      return;
    }
    // If the run is refused now, only the run is tried again.
    if (first) go.replaceChildren(icon("run"), t("pipeline.run"));
    await begin(project, { ...source, parameters: chosen(parameters, data), ...part(options, data), ...placed(places) }, options, dialog);
  });
  const field: HTMLElement = form.querySelector<HTMLElement>(".field:not(.places) :is(input, select, textarea)") ?? need(".dialog-foot .primary", dialog);
  field.focus();
}

/** The content of the form above the comparison of clusters. */
function asked(parameters: Parameters, { takesOver }: StartOptions, earlier: readonly Earlier[], first: SaveFirst | null): HTMLElement[] {
  const none = Object.keys(parameters).length === 0 && !takesOver ? [h("p", { class: "muted" }, t("pipeline.no-parameters"))] : [];
  return [...(first?.above ?? []), ...(takesOver ? [earlierField(earlier)] : []), ...fields(parameters), ...none, ...(first?.below ?? [])];
}

type Source = Pick<NonNullable<Body<"POST", "/projects/{project}/runs">>, "pipeline" | "version">;

function stored(pipeline: string, version: number | undefined): Source {
  return { pipeline, ...(version === undefined ? {} : { version }) };
}

function part({ tasks }: StartOptions, data: FormData): { tasks?: NonNullable<StartOptions["tasks"]> & { of?: string } } {
  const of = data.get(OF);
  return tasks ? { tasks: typeof of === "string" && of !== "" ? { ...tasks, of } : tasks } : {};
}

function placed(places: Places | null): { place?: string } {
  const place = places?.chosen() ?? null;
  return place === null ? {} : { place };
}

async function begin(project: string, body: Body<"POST", "/projects/{project}/runs">, { onStarted }: StartOptions, dialog: HTMLDialogElement): Promise<void> {
  const { data: started } = await request("POST", `/projects/${project}/runs`, body);
  dialog.close();
  if (onStarted) {
    onStarted(started.run.id, started.warnings as Problem[]);
    return;
  }
  toastLater(t("pipeline.started"));
  location.assign(`/runs/${started.run.id}`);
}

/** The comparison of target clusters for the form's parameters. */
function comparison(project: string, source: Unsaved["source"] | Source, parameters: Parameters, form: HTMLFormElement): Places {
  const places = new Places(project, () => ({ ...source, parameters: chosen(parameters, new FormData(form)) }));
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
      options?.takesOver ? earlierRuns(project, pipeline) : [],
    ]);
    askStart(project, pipeline, data.parameters as Parameters, options, earlier);
  });
}

/** The runs whose results a part can reuse, newest first. */
export async function earlierRuns(project: string, pipeline: string): Promise<Earlier[]> {
  return (await request("GET", `/projects/${project}/runs?pipeline=${pipeline}&state=succeeded,failed,cancelled&limit=50`)).data.items;
}
