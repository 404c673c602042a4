//! A new pipeline: the editor with an initial document.

import { request } from "../api/client";
import { carried, need } from "../core/dom";
import { t } from "../core/texts";
import { toastLater } from "../core/toast";

/** Starts the page. The editor is a separate file. */
export async function start(): Promise<void> {
  const box = need("#editor");
  const project = box.dataset["project"] ?? "";
  const { mountEditor } = await import("../text/page");
  mountEditor({
    box, project, document: String(carried("carried")), readOnly: false, problems: [], version: null, action: t("pipeline.create"),
    save: async (document, message) => {
      const { data } = await request("POST", `/projects/${project}/pipelines`, { document, message });
      toastLater(t("pipeline.created", { name: data.name }));
      // Navigates once the editor knows that everything is saved.
      setTimeout(() => { location.assign(`/projects/${project}/pipelines/${data.name}`); }, 0);
      return data.version;
    },
  });
}
