//! The document as text, beside the canvas or in its place. CodeMirror is loaded when it is first shown.

import { useEffect, useRef } from "react";
import type { EditorView } from "@codemirror/view";
import type { Problem } from "../api/problem";
import { t } from "../core/texts";
import { save } from "./save";
import type { Session } from "./session";

const WAIT_MS = 250;

/** The text, synchronized in both directions. */
export function TextPane({ session }: { session: Session }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const parent = box.current;
    if (!parent) return undefined;
    const pane = new Pane(session, parent);
    void pane.open();
    return () => { pane.close(); };
  }, [session]);
  return <div className="ed-text" ref={box} />;
}

class Pane {
  #view: EditorView | undefined;
  #marking: ((view: EditorView, problems: readonly Problem[]) => void) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** How many texts are being parsed: until then the document is older than the text. */
  #reading = 0;
  #closed = false;
  #problems: readonly Problem[] | undefined;
  readonly #stop: () => void;

  constructor(
    private readonly session: Session,
    private readonly parent: HTMLElement,
  ) {
    this.#stop = session.store.subscribe(() => void this.#follow());
  }

  async open(): Promise<void> {
    const [{ openEditor }, { markProblems }, text] = await Promise.all([import("../text/view"), import("../text/problems"), this.session.text()]);
    if (this.#closed) return;
    this.#marking = markProblems;
    this.#view = openEditor({
      parent: this.parent,
      document: text,
      readOnly: this.session.store.state.readOnly,
      label: t("editor.text-label"),
      onChange: () => { this.#typed(); },
      onSave: () => {
        void this.#take().then(() => save(this.session));
      },
    });
    await this.#follow();
  }

  close(): void {
    this.#closed = true;
    this.#stop();
    void this.#take();
    this.#view?.destroy();
  }

  #typed(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#take(), WAIT_MS);
  }

  /** Applies the typed text to the document, if it can be parsed. */
  async #take(): Promise<void> {
    if (!this.#view || this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#reading += 1;
    await this.session.take(this.#view.state.sliceDoc()).finally(() => { this.#reading -= 1; });
    if (!this.#closed) await this.#follow();
  }

  /** Writing a long text takes a while: typing into the old text meanwhile would undo the change. */
  #wait(): void {
    const { store, source, state } = this.session;
    this.parent.inert = state.broken === null && source.known(store.state.document) === undefined;
  }

  /** Writes changes from elsewhere into the text; the user is not typing at this moment. */
  async #follow(): Promise<void> {
    this.#wait();
    const { document } = this.session.store.state;
    const text = await this.session.text().finally(() => { this.#wait(); });
    const view = this.#view;
    if (!view || this.#closed || this.#timer !== undefined || this.#reading > 0 || document !== this.session.store.state.document) return;
    const present = view.state.doc.toString();
    const wanted = text.replaceAll("\r\n", "\n");
    if (present !== wanted) {
      const { from, to, insert } = difference(present, wanted);
      view.dispatch({ changes: { from, to, insert: insert.replaceAll("\n", view.state.lineBreak) } });
      clearTimeout(this.#timer);
      this.#timer = undefined;
    }
    const { problems } = this.session.store.state;
    if (problems !== this.#problems) {
      this.#problems = problems;
      this.#marking?.(view, problems);
    }
  }
}

/** The minimal change, so that the cursor and the scroll position are kept. */
function difference(before: string, after: string): { from: number; to: number; insert: string } {
  const most = Math.min(before.length, after.length);
  let from = 0;
  while (from < most && before[from] === after[from]) from += 1;
  let end = 0;
  while (end < most - from && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  return { from, to: before.length - end, insert: after.slice(from, after.length - end) };
}
