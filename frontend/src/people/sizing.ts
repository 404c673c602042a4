//! An owner decides about right-sizing in a project from before it was the default.

import { request } from "../api/client";
import { all } from "../core/dom";
import { trying } from "../core/form";
import { t } from "../core/texts";
import { toastLater } from "../core/toast";

/** Activates the question's buttons, if it is shown. */
export function watchSizing(): void {
  for (const button of all("[data-sizing]")) {
    button.addEventListener("click", () => void trying(() => answer(button)));
  }
}

/** The answer is stored as the project's mode, so that the question is asked once. */
async function answer(button: HTMLElement): Promise<void> {
  const path = `/projects/${button.dataset["project"] ?? ""}` as const;
  const turnOn = button.dataset["sizing"] === "auto";
  const sizing = turnOn ? "auto" : (await request("GET", path)).data.sizing;
  await request("PATCH", path, { sizing }, { etag: "*" });
  toastLater(t(turnOn ? "projects.sizing-is-on" : "projects.saved"));
  location.reload();
}
