//! A new pipeline: the editor with a document to begin with.

import { request } from "../api/client";
import { carried, need } from "../core/dom";
import { t } from "../core/texts";
import { toastLater } from "../core/toast";

/** Starts the page. The editor comes as a file of its own. */
export async function start(): Promise<void> {
  const box = need("#editor");
  const project = box.dataset["project"] ?? "";
  const { mountEditor } = await import("../text/page");
  mountEditor({
    box, project, document: String(carried("carried")), readOnly: false, problems: [], version: null, action: t("pipeline.create"),
    save: async (document, message) => {
      const { data } = await request("POST", `/projects/${project}/pipelines`, { document, message });
      toastLater(t("pipeline.created", { name: data.name }));
      // The page is left once the editor knows that everything is saved.
      setTimeout(() => { location.assign(`/projects/${project}/pipelines/${data.name}`); }, 0);
      return data.version;
    },
  });
}
