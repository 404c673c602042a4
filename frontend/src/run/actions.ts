// Actions on a run: each asks for confirmation, calls the API, and reports the result.

import { request } from "../api/client";
import type { Schema } from "../api/typed";
import { confirm, type Question } from "../core/dialog";
import { around, h } from "../core/dom";
import { busy, trying } from "../core/form";
import { t } from "../core/texts";
import { toast, toastLater } from "../core/toast";

interface Action {
  question: Question;
  /** Performs the action; the returned message is shown. */
  perform: () => Promise<string | undefined>;
}

/** Activates buttons with `data-do`, including later ones; `changed` is called after an action. */
export function watchActions(run: string, project: string, changed: () => void): void {
  document.addEventListener("click", (event) => {
    const button = around(event, "button[data-do]");
    if (!(button instanceof HTMLButtonElement)) return;
    if (button.dataset["do"] === "terminal") {
      void busy(button, () => trying(() => terminal(run, button)));
      return;
    }
    const action = actionOf(button, run, project);
    if (action !== undefined) void use(button, action, changed);
    else void decide(run, button, changed);
  });
}

async function use(button: HTMLButtonElement, action: Action, changed: () => void): Promise<void> {
  if (!(await confirm(action.question))) return;
  await busy(button, () =>
    trying(async () => {
      const said = await action.perform();
      if (said !== undefined) toast(said);
      changed();
    }),
  );
}

/** Opens a terminal, whose code is loaded on demand. */
async function terminal(run: string, button: HTMLButtonElement): Promise<void> {
  const { openTerminal } = await import("./terminal/terminal");
  await openTerminal({ run, task: button.dataset["task"] ?? "", instance: Number(button.dataset["instance"] ?? 0) });
}

function actionOf(button: HTMLButtonElement, run: string, project: string): Action | undefined {
  switch (button.dataset["do"]) {
    case "cancel": return cancel(run);
    case "resume": return resume(run, button.dataset["version"]);
    case "resume-with": return resumeWith(run, button);
    case "again": return again(run);
    case "delete": return remove(run, project);
    case "suspend": return suspend(run, button.dataset["task"] ?? "", Number(button.dataset["instance"] ?? 0), true);
    case "unsuspend": return suspend(run, button.dataset["task"] ?? "", Number(button.dataset["instance"] ?? 0), false);
    case "mark": return mark(run, button);
    case "rerun": return rerun(run, button.dataset["from"] ?? "");
    default: return undefined;
  }
}

/** Asks which version to run if there is a newer one: an old version never runs unnoticed. */
function versionRun(): string {
  const { version, newest } = document.querySelector<HTMLElement>("#run-head")?.dataset ?? {};
  if (version === undefined) return "";
  const said = t("run.runs-version", { version });
  return ` ${said}${newest === undefined || newest === version ? "" : ` ${t("run.newer-exists", { version: newest })}`}`;
}

function cancel(run: string): Action {
  return {
    question: { title: t("run.cancel"), text: t("run.cancel-question"), action: t("run.cancel"), danger: true },
    perform: async () => {
      await request("POST", `/runs/${run}/cancel`);
      return t("run.done-cancel");
    },
  };
}

/** Resumes a run in its own version; `version` is given if that is not the newest. */
function resume(run: string, version?: string): Action {
  const title = version === undefined ? t("run.resume") : t("run.resume-old", { version });
  return {
    question: { title, text: t("run.resume-question") + versionRun(), action: t("run.resume") },
    perform: async () => {
      await request("POST", `/runs/${run}/resume`);
      return t("run.done-resume");
    },
  };
}

/** Resumes a run with a newer version: as a new run, which opens. */
function resumeWith(run: string, button: HTMLButtonElement): Action {
  const [version = "", effect = ""] = ["version", "effect"].map((name) => button.dataset[name]);
  const title = t("run.resume-with", { version });
  return {
    question: { title, text: `${t("run.resume-with-question")} ${effect}`.trim(), action: t("run.resume") },
    perform: async () => {
      const { data } = await request("POST", `/runs/${run}/resume-with`, { version: Number(version) });
      toastLater(t("run.done-resume-with", { version }));
      location.assign(`/runs/${data.run.id}`);
      return undefined;
    },
  };
}

/** Answers the approval of the button's task, with the comment beside it. */
async function decide(run: string, button: HTMLButtonElement, changed: () => void): Promise<void> {
  const action = button.dataset["do"];
  if (action !== "approve" && action !== "reject") return;
  const [task = "", instance = "0"] = ["task", "instance"].map((name) => button.dataset[name]);
  const approved = action === "approve";
  const comment = button.closest("[data-decision]")?.querySelector("textarea")?.value ?? "";
  await busy(button, () =>
    trying(async () => {
      await request("POST", `/runs/${run}/tasks/${task}/instances/${instance}/decision`, { approved, comment });
      toast(approved ? t("run.done-approve", { task }) : t("run.done-reject", { task }));
      changed();
    }),
  );
}

/** Sets the outcome of the button's task. */
function mark(run: string, button: HTMLButtonElement): Action {
  const [task = "", instance = "0"] = ["task", "instance"].map((name) => button.dataset[name]);
  const outcome = h(
    "select",
    { class: "input", id: "outcome", autofocus: true },
    h("option", { value: "succeeded" }, t("common.state-succeeded")),
    h("option", { value: "failed" }, t("common.state-failed")),
    h("option", { value: "skipped" }, t("common.state-skipped")),
  );
  const reason = h("textarea", { class: "input", id: "reason", rows: "3", maxlength: "2000", required: true });
  const field = h(
    "div",
    { class: "section stack" },
    h("div", { class: "field" }, h("label", { for: "outcome" }, t("run.mark-as")), outcome),
    h("div", { class: "field" }, h("label", { for: "reason" }, t("run.mark-reason")), reason),
  );
  return {
    question: { title: t("run.mark-title", { task }), text: t("run.mark-question"), action: t("run.mark-do"), field, needs: reason },
    perform: async () => {
      await request("POST", `/runs/${run}/tasks/${task}/instances/${instance}/mark`, { as: outcome.value as Schema<"MarkedOutcome">, reason: reason.value });
      return t("run.done-mark", { task });
    },
  };
}

function rerun(run: string, task: string): Action {
  const title = t("run.rerun-from");
  return {
    question: { title, text: t("run.rerun-question", { task }) + versionRun(), action: t("run.again") },
    perform: async () => {
      await request("POST", `/runs/${run}/rerun`, { from: [task] });
      return t("run.done-rerun", { task });
    },
  };
}

function suspend(run: string, task: string, instance: number, suspended: boolean): Action {
  const [title, text, done] = suspended
    ? [t("run.suspend"), t("run.suspend-question"), t("run.done-suspend")]
    : [t("run.unsuspend"), t("run.unsuspend-question"), t("run.done-unsuspend")];
  return {
    question: { title, text, action: title },
    perform: async () => {
      await request("POST", `/runs/${run}/tasks/${task}/instances/${instance}/suspend`, { suspended });
      return done;
    },
  };
}

function again(run: string): Action {
  return {
    question: { title: t("run.again"), text: t("run.again-question") + versionRun(), action: t("run.again") },
    perform: async () => {
      const { data } = await request("POST", `/runs/${run}/again`);
      location.assign(`/runs/${data.run.id}`);
      return undefined;
    },
  };
}

function remove(run: string, project: string): Action {
  return {
    question: { title: t("run.delete"), text: t("run.delete-question"), action: t("run.delete"), danger: true },
    perform: async () => {
      await request("DELETE", `/runs/${run}`);
      toastLater(t("run.done-delete"));
      location.assign(`/projects/${project}/runs`);
      return undefined;
    },
  };
}
