//! A pipeline's text on a page: editor, problems, message, saving, and conflicting saves.

import type { EditorView } from "@codemirror/view";
import { request } from "../api/client";
import { ApiProblem, type Problem } from "../api/problem";
import { h, icon } from "../core/dom";
import { busy } from "../core/form";
import { t } from "../core/texts";
import { toast } from "../core/toast";
import { askConflict } from "./conflict";
import { Checker, goToProblem, type Checked } from "./problems";
import { staleOf, type Stale } from "./stale";
import { openEditor } from "./view";

/** The data and callbacks of the page. */
export interface PageParts {
  box: HTMLElement;
  project: string;
  document: string;
  readOnly: boolean;
  /** Initially known problems. */
  problems: Problem[];
  /** Stores the text; `version` is the one that it is based on, null for a new pipeline. */
  save: (document: string, message: string, version: number | null) => Promise<number | null>;
  version: number | null;
  /** The label of the button. */
  action: string;
}

/** Stores the text. Returns the stored version. */
export async function put(project: string, pipeline: string, document: string, message: string, version: number): Promise<number> {
  const { data } = await request("PUT", `/projects/${project}/pipelines/${pipeline}`, { document, message }, { etag: `"${version}"` });
  return data.version;
}

/** The text, its problems and its saving. */
export class TextPage {
  readonly #parts: PageParts;
  readonly #view: EditorView;
  readonly #checker: Checker;
  /** Another user's changes in the text that are not saved yet. */
  readonly #merged = h("div", { role: "status" });
  readonly #status = h("p", { class: "editor-status", role: "status" });
  readonly #message = h("input", { class: "input", id: "f-message", maxlength: 2000, placeholder: t("pipeline.message-hint"), "aria-label": t("pipeline.message") });
  readonly #button: HTMLButtonElement;
  #saved: string;
  #version: number | null;
  #checked: Checked | null = null;

  constructor(parts: PageParts) {
    this.#parts = parts;
    this.#saved = parts.document;
    this.#version = parts.version;
    this.#button = h("button", { class: "button primary", type: "button", onclick: () => void this.save() }, icon("check"), parts.action);
    const list = h("ul", { class: "problem-list", "aria-label": t("pipeline.problems") });
    const text = h("div", { class: "editor-text" });
    const foot = parts.readOnly ? null : h("div", { class: "editor-foot" }, this.#merged, this.#message, this.#button);
    parts.box.replaceChildren(text, h("div", { class: "editor-side" }, this.#status, list), ...(foot ? [foot] : []));
    this.#checker = new Checker(parts.project, list, (checked) => {
      this.#checked = checked;
      this.#paint();
    });
    this.#view = openEditor({
      parent: text, document: parts.document, readOnly: parts.readOnly, label: t("pipeline.text"),
      onChange: (view) => { this.#paint(); this.#checker.soon(view); },
      onSave: () => void this.save(),
    });
    this.#message.addEventListener("keydown", (event) => { if (event.key === "Enter") void this.save(); });
    window.addEventListener("beforeunload", (event) => { if (this.dirty) event.preventDefault(); });
    this.#begin();
  }

  get dirty(): boolean {
    return !this.#parts.readOnly && this.#text() !== this.#saved;
  }

  /** The message for the next version. */
  get message(): string {
    return this.#message.value;
  }

  async save(): Promise<void> {
    if (this.#parts.readOnly || this.#button.ariaBusy === "true") return;
    await busy(this.#button, async () => { await this.store(this.message); });
  }

  /** Checks the text. Throws if the server is unreachable. */
  async check(): Promise<Checked & { document: string }> {
    const document = this.#text();
    try {
      return { ...(await this.#checker.check(this.#view)), document };
    } catch (error) {
      // A change of the text aborts the check of the former text.
      if (error instanceof DOMException) return this.check();
      throw error;
    }
  }

  /** Moves the cursor to a problem. */
  show(problem: Problem): void {
    goToProblem(this.#view, problem);
  }

  /** Stores the text. Returns the version; null if the text was not stored, which the page explains. */
  async store(message: string, version = this.#version): Promise<number | null> {
    const text = this.#text();
    try {
      const stored = await this.#parts.save(text, message, version);
      this.#saved = text;
      this.#version = stored;
      this.#message.value = "";
      this.#merged.replaceChildren();
      this.#paint();
      return stored;
    } catch (error) {
      if (error instanceof ApiProblem) return this.#refused(error, message);
      toast(error instanceof Error ? error.message : String(error), "error");
      return null;
    }
  }

  #begin(): void {
    if (this.#parts.version === null) void this.#checker.now(this.#view);
    else this.#checker.show(this.#view, { valid: !this.#parts.problems.some((one) => one.severity === "error"), problems: this.#parts.problems });
  }

  #text(): string {
    return this.#view.state.sliceDoc();
  }

  async #refused(problem: ApiProblem, message: string): Promise<number | null> {
    const stale = staleOf(problem);
    if (stale) return this.#settle(stale, message);
    if (problem.problems.length > 0) this.#checker.show(this.#view, { valid: false, problems: problem.problems });
    toast(problem.message, "error");
    return null;
  }

  async #settle(stale: Stale, message: string): Promise<number | null> {
    const way = await askConflict(stale);
    const { present, difference } = stale;
    if (way === "mine") return this.store(message, present.version);
    if (way === "theirs") this.#replace(present.document, present);
    else if (way === "merge" && difference.merged) {
      this.#replace(difference.merged.document, present);
      const { user, version: theirs } = present;
      this.#merged.replaceChildren(h("div", { class: "callout warning" }, icon("warning"), h("div", {}, t("pipeline.merged", { user, version: theirs }))));
    }
    return null;
  }

  #replace(text: string, present: Stale["present"]): void {
    this.#view.dispatch({ changes: { from: 0, to: this.#view.state.doc.length, insert: text } });
    this.#saved = present.document;
    this.#merged.replaceChildren();
    this.#version = present.version;
    this.#paint();
    this.#view.focus();
  }

  #paint(): void {
    const errors = this.#checked?.problems.filter((problem) => problem.severity === "error").length ?? 0;
    const rest = (this.#checked?.problems.length ?? 0) - errors;
    const parts = [
      this.#checked === null ? t("pipeline.checking") : errors > 0 ? t("pipeline.errors", { n: errors }) : rest > 0 ? t("pipeline.warnings", { n: rest }) : t("pipeline.valid"),
      this.dirty ? t("pipeline.unsaved") : "",
    ];
    this.#status.replaceChildren(icon(errors > 0 ? "error" : rest > 0 ? "warning" : "check"), parts.filter(Boolean).join(" · "));
    this.#status.dataset["kind"] = errors > 0 ? "error" : rest > 0 ? "warning" : "good";
  }
}

export function mountEditor(parts: PageParts): TextPage {
  return new TextPage(parts);
}
