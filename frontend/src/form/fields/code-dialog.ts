//! A large code editor. Its module, with CodeMirror, is loaded on demand.

import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, indentUnit } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { openDialog } from "../../core/dialog";
import { h } from "../../core/dom";
import { t } from "../../core/texts";
import { theme } from "../../components/code-theme";

/** The text, and its callbacks: `change` on every change, `close` once, at the end. */
export interface CodeParts {
  readonly title: string;
  readonly text: string;
  readonly readOnly: boolean;
  readonly change: (text: string) => void;
  readonly close: () => void;
}

/** Opens the editor in a dialog. Escape, then Tab leaves the text, as everywhere in CodeMirror. */
export function openCode({ title, text, readOnly, change, close }: CodeParts): void {
  const box = h("div", { class: "form-code-large" });
  const done = h("button", { class: "button primary", type: "button", onclick: () => { dialog.close(); } }, t("form.done"));
  const dialog = openDialog({ title, body: [box], actions: [done], large: true });
  const view = new EditorView({
    parent: box,
    state: EditorState.create({
      doc: text,
      extensions: [
        theme(), lineNumbers(), history(), drawSelection(), highlightActiveLine(), bracketMatching(), indentUnit.of("    "),
        keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
        EditorView.contentAttributes.of({ "aria-label": title }),
        EditorState.readOnly.of(readOnly),
        EditorView.updateListener.of((update) => { if (update.docChanged) change(update.state.sliceDoc()); }),
      ],
    }),
  });
  dialog.addEventListener("close", () => {
    view.destroy();
    close();
  });
  view.focus();
}
