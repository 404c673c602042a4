//! Exports the stored pipeline as an Argo Workflow, with a list of unsupported features.

import { request } from "../api/client";
import { openDialog } from "../core/dialog";
import { h } from "../core/dom";
import { hand } from "../core/hand";
import { prose } from "../core/prose";
import { t } from "../core/texts";
import { storedFirst } from "./save";
import type { Session } from "./session";

/** Downloads it as a file, and lists what was not exported. */
export async function exportArgo(session: Session): Promise<void> {
  const question = { title: t("editor.run-save"), text: t("editor.export-save-text"), action: t("editor.export-save-action") };
  if (!(await storedFirst(session, question))) return;
  const { stored } = session.state;
  if (!stored) return;
  const { data } = await request(
    "GET", `/projects/${session.project}/pipelines/${stored.pipeline}/export?format=argo&version=${stored.version}`,
  );
  hand(`${stored.pipeline}.argo.yaml`, data.document, "application/yaml");
  const notes = data.report.length === 0
    ? [h("p", {}, t("editor.export-all"))]
    : [h("p", {}, t("editor.export-notes")), h("ul", { class: "notes" }, ...data.report.map((note) => h("li", {}, ...prose(note))))];
  const close = h("button", { class: "button primary", type: "button" }, t("common.close"));
  const dialog = openDialog({ title: t("editor.export-argo-done", { name: `${stored.pipeline}.argo.yaml` }), body: notes, actions: [close], large: data.report.length > 0 });
  close.addEventListener("click", () => { dialog.close(); });
  close.focus();
}
