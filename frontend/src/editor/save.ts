//! Saving: each save creates a version with a message.

import { request } from "../api/client";
import { ApiProblem } from "../api/problem";
import { h, icon } from "../core/dom";
import { confirm, openDialog, type Question } from "../core/dialog";
import { trying } from "../core/form";
import { t } from "../core/texts";
import { toast } from "../core/toast";
import { staleOf } from "../text/stale";
import { noteNewer } from "./peers";
import type { Session, Stored } from "./session";

/** Saves unsaved changes, with a message from the user. False if nothing was stored. */
export async function save(session: Session): Promise<boolean> {
  if (session.readOnly || session.state.saving) return false;
  if (!session.dirty && session.state.stored) {
    toast(t("editor.nothing-changed"));
    return false;
  }
  const message = await askMessage(session);
  return message === null ? false : store(session, message);
}

/** Whether everything is stored; unsaved changes are saved after a confirmation. */
export async function storedFirst(session: Session, question: Question): Promise<boolean> {
  if (!session.dirty && session.state.stored) return true;
  return (await confirm(question)) && save(session);
}

/** Stores the current text. False if it is not stored, which the page explains. */
async function store(session: Session, message: string): Promise<boolean> {
  try {
    await put(session, message);
    return true;
  } catch (error) {
    refused(session, error);
    return false;
  }
}

/**
 * Stores the current text, under this name if it is new. Null if another user has saved meanwhile: the changes are
 * merged then. Throws ApiProblem for invalid input.
 */
export async function storeAs(session: Session, name: string, message: string): Promise<Stored | null> {
  const { stored } = session.state;
  if (!stored && name !== session.store.state.document.name) {
    session.store.apply(t("editor.step-name"), (document) => ({ ...document, name }));
  }
  try {
    return await put(session, message);
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    if (error.kind === "conflict" && !stored) throw taken(error, name);
    if (!staleOf(error)) throw error;
    refused(session, error);
    return null;
  }
}

function taken({ status }: ApiProblem, name: string): ApiProblem {
  const problem = { severity: "error", code: "invalid_value", path: "/name", message: t("editor.name-taken", { name }) } as const;
  return new ApiProblem(status, { problems: [problem] });
}

async function put(session: Session, message: string): Promise<Stored> {
  session.store.seal();
  const { document } = session.store.state;
  session.cell.set({ saving: true });
  try {
    const text = await session.text();
    const stored = await send(session, text, message);
    session.cell.set({ stored, base: document, baseText: text, merged: null });
    toast(t("editor.saved", { version: stored.version }));
    return stored;
  } finally {
    session.cell.set({ saving: false });
  }
}

async function send(session: Session, document: string, message: string): Promise<Stored> {
  const { stored } = session.state;
  const all = `/projects/${session.project}/pipelines` as const;
  const body = { document, message };
  const { data } = stored
    ? await request("PUT", `${all}/${stored.pipeline}`, body, { etag: `"${stored.version}"` })
    : await request("POST", all, body);
  if (!stored) history.replaceState(null, "", `${all}/${data.name}/edit`);
  return { pipeline: data.name, version: data.version };
}

function refused(session: Session, error: unknown): void {
  const stale = error instanceof ApiProblem ? staleOf(error) : null;
  if (stale) {
    const { version } = stale.present;
    noteNewer(session, stale.present);
    void trying(async () => { await (await import("./reconcile")).reconcile(session, version); });
    return;
  }
  if (error instanceof ApiProblem && error.problems.length > 0) session.store.set({ problems: error.problems });
  toast(error instanceof Error ? error.message : String(error), "error");
}

/** Asks for a message, which may be empty; null if the user cancels. */
function askMessage(session: Session): Promise<string | null> {
  return new Promise((resolve) => {
    const input = h("input", { class: "input", id: "f-message", maxlength: 2000, autocomplete: "off", placeholder: t("editor.message-hint") });
    const label = h("label", { for: "f-message" }, t("editor.message"));
    const form = h("form", { class: "form", id: "save-form" }, h("div", { class: "field" }, label, input));
    const go = h("button", { class: "button primary", type: "submit", form: "save-form" }, icon("check"), t("editor.save"));
    const cancel = h("button", { class: "button", type: "button" }, t("common.cancel"));
    const next = (session.state.stored?.version ?? 0) + 1;
    const dialog = openDialog({ title: t("editor.save-title", { version: next }), body: [form], actions: [cancel, go] });
    cancel.addEventListener("click", () => { dialog.close(); });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      dialog.close("save");
    });
    dialog.addEventListener("close", () => { resolve(dialog.returnValue === "save" ? input.value : null); });
    input.focus();
  });
}
