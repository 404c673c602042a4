//! The versions of a pipeline: restoring an old one.

import { request } from "../api/client";
import { around, need } from "../core/dom";
import { confirm } from "../core/dialog";
import { trying } from "../core/form";
import { t } from "../core/texts";
import { toastLater } from "../core/toast";

/** Activates the list's buttons. */
export function watchVersions(page: { project: string; pipeline: string; newest: number }): void {
  need("#versions").addEventListener("click", (event) => {
    const version = Number(around(event, "[data-restore]")?.dataset["restore"] ?? 0);
    if (version > 0) void trying(() => restore(page, version));
  });
}

async function restore({ project, pipeline, newest }: { project: string; pipeline: string; newest: number }, version: number): Promise<void> {
  const question = { title: t("pipeline.restore-title", { version }), text: t("pipeline.restore-text", { version, next: newest + 1 }), action: t("pipeline.restore") };
  if (!(await confirm(question))) return;
  const path = `/projects/${project}/pipelines/${pipeline}` as const;
  const old = await request("GET", `${path}/versions/${version}`);
  // Without its own folder, it would run with the newest version's.
  const body = { document: old.data.document ?? "", message: t("pipeline.restored-message", { version }), code: old.data.code ?? "" };
  await request("PUT", path, body, { etag: `"${newest}"` });
  toastLater(t("pipeline.restored", { version }));
  location.assign(`${path}?tab=versions`);
}
