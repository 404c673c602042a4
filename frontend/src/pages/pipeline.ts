//! One pipeline: starting runs, deletion, and its tabs.

import { request } from "../api/client";
import { loadPage } from "../api/page";
import type { Problem } from "../api/problem";
import { around, carried, need } from "../core/dom";
import { confirm } from "../core/dialog";
import { busy, trying } from "../core/form";
import { t } from "../core/texts";
import { paintTimes } from "../core/time";
import { toast, toastLater } from "../core/toast";
import type { TextPage } from "../text/page";
import { drawGraph, type CheckedTask } from "../pipelines/graph";
import { watchHooks } from "../pipelines/hooks";
import type { Parameters } from "../pipelines/parameters";
import { watchSchedule } from "../pipelines/schedule";
import { askStart, askStartOf, type StartOptions } from "../pipelines/start";
import { startText } from "../pipelines/start-text";
import { watchVersions } from "../pipelines/versions";

/** The data in the server's page. */
interface Carried {
  project: string;
  pipeline: string;
  version: number;
  newest: number;
  /** The digest of its code folder. */
  code: string | null;
  document: string;
  problems: Problem[];
  parameters: Parameters | null;
  tasks: CheckedTask[] | null;
}

export async function start(): Promise<void> {
  const page = carried("carried") as Carried;
  let text: TextPage | undefined;
  watchHead(page, () => text);
  const graph = document.querySelector<HTMLElement>("#graph");
  if (graph) drawGraph(graph, page.tasks ?? [], `/projects/${page.project}/pipelines/${page.pipeline}`);
  if (document.querySelector("#versions")) watchVersions(page);
  if (document.querySelector("#new-hook")) watchHooks(page);
  if (document.querySelector("#schedule")) watchSchedule(page);
  if (document.querySelector("#runs-tab")) await openRuns(page);
  const editor = document.querySelector<HTMLElement>("#editor");
  if (editor) text = await openText(page, editor);
}

function watchHead(page: Carried, text: () => TextPage | undefined): void {
  document.addEventListener("click", (event) => {
    const start = around(event, "#run, [data-start]");
    if (start && start.ariaBusy !== "true") void trying(() => busy(start, () => run(page, text())));
    else if (around(event, "#delete")) void trying(() => remove(page));
  });
}

/** Runs what the page shows: the text with its unsaved changes, or this version. */
async function run(page: Carried, text: TextPage | undefined): Promise<void> {
  const { pipeline, version } = page;
  if (!text?.dirty) runStored(page);
  else {
    // The page stays, and with it the text.
    const onStarted = () => { toast(t("pipeline.version-started", { version })); };
    await startText(page, text, () => { runStored(page, { title: t("pipeline.run-title-version", { name: pipeline, version }), onStarted }); });
  }
}

function runStored({ project, pipeline, version, parameters }: Carried, options: StartOptions = {}): void {
  if (parameters) askStart(project, pipeline, parameters, { version, ...options });
  else void askStartOf(project, pipeline, options);
}

async function remove({ project, pipeline, newest }: Carried): Promise<void> {
  const question = { title: t("pipeline.delete-title", { name: pipeline }), text: t("pipeline.delete-text"), action: t("pipeline.delete"), danger: true, typed: pipeline };
  if (!(await confirm(question))) return;
  await request("DELETE", `/projects/${project}/pipelines/${pipeline}`, undefined, { etag: `"${newest}"` });
  toastLater(t("pipeline.deleted", { name: pipeline }));
  location.assign(`/projects/${project}/pipelines`);
}

async function openRuns({ project, pipeline }: Carried): Promise<void> {
  const { watchRuns } = await import("../pipelines/runs");
  watchRuns(project, pipeline);
}

async function openText(page: Carried, box: HTMLElement): Promise<TextPage> {
  const { mountEditor, put } = await import("../text/page");
  return mountEditor({
    box, project: page.project, document: page.document, problems: page.problems, version: page.version, action: t("pipeline.save"),
    readOnly: box.dataset["readOnly"] !== undefined,
    save: async (document, message, version) => {
      const stored = await put(page.project, page.pipeline, document, message, version ?? page.newest);
      toast(stored === version ? t("pipeline.nothing-changed") : t("pipeline.saved", { version: stored }));
      await refreshHead(page);
      return stored;
    },
  });
}

/** Updates the author and time in the head; the editor is unchanged. */
async function refreshHead(page: Carried): Promise<void> {
  const fresh = await loadPage(location.pathname + location.search);
  const head = fresh?.querySelector(".page-head");
  if (head) need(".page-head").replaceWith(document.adoptNode(head));
  paintTimes();
  const text = fresh?.querySelector("#carried")?.textContent;
  if (text) Object.assign(page, JSON.parse(text) as Carried);
}
