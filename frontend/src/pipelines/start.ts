//! The dialog that starts a run.

import { request } from "../api/client";
import type { Problem } from "../api/problem";
import { h, icon, need } from "../core/dom";
import { openDialog } from "../core/dialog";
import { onSubmit, trying } from "../core/form";
import { t } from "../core/texts";
import { toastLater } from "../core/toast";
import { chosen, fields, type Parameters } from "./parameters";

/** How a run is started, where it is not all of the pipeline and the run's page after it. */
export interface StartOptions {
  version?: number;
  /** The part that is run, as the API has it. */
  tasks?: { from: string } | { only: string };
  /** What the dialog is called. */
  title?: string;
  /** What is done with the run, instead of going to its page. */
  onStarted?: (run: string, warnings: Problem[]) => void;
}

/** Asks for the parameters of a stored pipeline and starts it. */
export function askStart(project: string, pipeline: string, parameters: Parameters, options: StartOptions = {}): void {
  const names = Object.keys(parameters);
  const go = h("button", { class: "button primary", type: "submit", form: "start-run" }, icon("run"), t("pipeline.run"));
  const cancel = h("button", { class: "button", type: "button" }, t("common.cancel"));
  const form = h("form", { class: "form", id: "start-run" }, ...fields(parameters));
  if (names.length === 0) form.append(h("p", { class: "muted" }, t("pipeline.no-parameters")));
  const dialog = openDialog({ title: options.title ?? t("pipeline.run-title", { name: pipeline }), body: [form], actions: [cancel, go] });
  cancel.addEventListener("click", () => { dialog.close(); });
  onSubmit(form, async (data) => {
    const { version, tasks, onStarted } = options;
    const body = { pipeline, parameters: chosen(parameters, data), ...(version === undefined ? {} : { version }), ...(tasks ? { tasks } : {}) };
    const { data: started } = await request("POST", `/projects/${project}/runs`, body);
    if (onStarted) {
      dialog.close();
      onStarted(started.run.id, started.warnings as Problem[]);
      return;
    }
    toastLater(t("pipeline.started"));
    location.assign(`/runs/${started.run.id}`);
  });
  const first: HTMLElement = form.querySelector<HTMLElement>("input, select, textarea") ?? need(".dialog-foot .primary", dialog);
  first.focus();
}

/** Reads a pipeline's parameters first. */
export async function askStartOf(project: string, pipeline: string, options?: StartOptions): Promise<void> {
  await trying(async () => {
    const { data } = await request("GET", `/projects/${project}/pipelines/${pipeline}`);
    askStart(project, pipeline, data.parameters as Parameters, options);
  });
}
