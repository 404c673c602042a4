//! One pipeline: starting runs, deletion, and its tabs.

import { request } from "../api/client";
import type { Problem } from "../api/problem";
import { around, carried, need } from "../core/dom";
import { confirm } from "../core/dialog";
import { trying } from "../core/form";
import { t } from "../core/texts";
import { paintTimes } from "../core/time";
import { toast, toastLater } from "../core/toast";
import { drawGraph, type CheckedTask } from "../pipelines/graph";
import { watchHooks } from "../pipelines/hooks";
import type { Parameters } from "../pipelines/parameters";
import { watchSchedule } from "../pipelines/schedule";
import { askStart, askStartOf } from "../pipelines/start";
import { watchVersions } from "../pipelines/versions";

/** The data in the server's page. */
interface Carried {
  project: string;
  pipeline: string;
  version: number;
  newest: number;
  document: string;
  problems: Problem[];
  parameters: Parameters | null;
  tasks: CheckedTask[] | null;
}

export async function start(): Promise<void> {
  const page = carried("carried") as Carried;
  watchHead(page);
  const graph = document.querySelector<HTMLElement>("#graph");
  if (graph) drawGraph(graph, page.tasks ?? [], `/projects/${page.project}/pipelines/${page.pipeline}`);
  if (document.querySelector("#versions")) watchVersions(page);
  if (document.querySelector("#new-hook")) watchHooks(page);
  if (document.querySelector("#schedule")) watchSchedule(page);
  if (document.querySelector("#runs-tab")) await openRuns(page);
  const editor = document.querySelector<HTMLElement>("#editor");
  if (editor) await openText(page, editor);
}

function watchHead(page: Carried): void {
  document.addEventListener("click", (event) => {
    if (around(event, "#run, [data-start]")) run(page);
    else if (around(event, "#delete")) void trying(() => remove(page));
  });
}

function run(page: Carried): void {
  const older = page.version === page.newest ? undefined : page.version;
  if (page.parameters) askStart(page.project, page.pipeline, page.parameters, older === undefined ? {} : { version: older });
  else void askStartOf(page.project, page.pipeline);
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

async function openText(page: Carried, box: HTMLElement): Promise<void> {
  const { mountEditor, put } = await import("../text/page");
  mountEditor({
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
  const response = await fetch(location.pathname + location.search);
  if (!response.ok) return;
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
  const head = fresh.querySelector(".page-head");
  if (head) need(".page-head").replaceWith(document.adoptNode(head));
  paintTimes();
  const text = fresh.querySelector("#carried")?.textContent;
  if (text) Object.assign(page, JSON.parse(text) as Carried);
}
