//! The server's problems of the text: marks in it, and a list with links to them.

import { setDiagnostics, type Diagnostic } from "@codemirror/lint";
import type { EditorView } from "@codemirror/view";
import { request } from "../api/client";
import type { Problem } from "../api/problem";
import { h, icon } from "../core/dom";
import { t } from "../core/texts";
import type { Parameters } from "../pipelines/parameters";

/** The response of `/validate`. */
export interface Checked {
  valid: boolean;
  problems: Problem[];
  name?: string;
  /** Missing if the document cannot be read. */
  parameters?: Parameters | null;
}

const WAIT_MS = 450;

/** Calls the server shortly after the last change, with one request at a time. */
export class Checker {
  #timer = 0;
  #running: AbortController | null = null;

  constructor(
    private readonly project: string,
    private readonly list: HTMLElement,
    private readonly onChecked: (checked: Checked) => void,
  ) {}

  soon(view: EditorView): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.now(view), WAIT_MS);
  }

  async now(view: EditorView): Promise<void> {
    // The next change retries; saving reports connection errors.
    await this.check(view).catch(() => undefined);
  }

  /** Checks the present text, and shows the result. Throws if there is none. */
  async check(view: EditorView): Promise<Checked> {
    clearTimeout(this.#timer);
    this.#running?.abort();
    const running = new AbortController();
    this.#running = running;
    const document = view.state.doc.toString();
    const { data } = await request("POST", `/projects/${this.project}/validate`, { document }, { signal: running.signal });
    this.show(view, data as Checked);
    return data as Checked;
  }

  /** Marks problems and lists them. */
  show(view: EditorView, checked: Checked): void {
    markProblems(view, checked.problems);
    this.list.replaceChildren(...checked.problems.map((problem) => row(view, problem)));
    this.onChecked(checked);
  }
}

/** Marks problems in the text. */
export function markProblems(view: EditorView, problems: readonly Problem[]): void {
  view.dispatch(setDiagnostics(view.state, problems.map((problem) => mark(view, problem))));
}

/** Moves the cursor to a problem. */
export function goToProblem(view: EditorView, problem: Problem): void {
  view.dispatch({ selection: { anchor: placeOf(view, problem).from }, scrollIntoView: true });
  view.focus();
}

/** The range of a problem: from its column to the end of its line. */
function placeOf(view: EditorView, problem: Problem): { from: number; to: number } {
  const number = Math.min(Math.max(problem.line ?? 1, 1), view.state.doc.lines);
  const line = view.state.doc.line(number);
  const from = Math.min(line.from + Math.max((problem.column ?? 1) - 1, 0), line.to);
  return { from, to: Math.max(line.to, from) };
}

function mark(view: EditorView, problem: Problem): Diagnostic {
  return { ...placeOf(view, problem), severity: problem.severity, message: problem.message, source: problem.path };
}

function row(view: EditorView, problem: Problem): HTMLElement {
  const go = () => { goToProblem(view, problem); };
  const line = problem.line === undefined ? "" : t("pipeline.line", { line: problem.line });
  const button = h("button", { type: "button", class: "problem", onclick: go }, icon(problem.severity), h("span", { class: "faint" }, line), h("span", {}, problem.message));
  return h("li", { "data-severity": problem.severity }, button);
}
