//! The CodeMirror editor for pipeline documents.

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, foldGutter, foldKeymap, indentOnInput, indentService, indentUnit } from "@codemirror/language";
import { lintGutter, lintKeymap } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, type Extension } from "@codemirror/state";
import {
  drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers,
} from "@codemirror/view";
import { completing } from "./complete";
import { explaining } from "./hover";
import { learn } from "../api/knowledge";
import { theme } from "../components/code-theme";

/** The content and callbacks of an editor. */
export interface EditorParts {
  parent: HTMLElement;
  document: string;
  /** The label for screen readers. */
  label: string;
  readOnly: boolean;
  onChange: (view: EditorView) => void;
  onSave: () => void;
}

/** Opens an editor. Completion and explanations are added once the schemas have loaded. */
export function openEditor(parts: EditorParts): EditorView {
  const knowing = new Compartment();
  const view = new EditorView({
    parent: parts.parent,
    state: EditorState.create({ doc: parts.document, extensions: [knowing.of([]), ...basics(parts)] }),
  });
  void learn().then(
    (knowledge) => {
      const source = autocompletion({ override: [completing(knowledge)], activateOnTyping: true });
      view.dispatch({ effects: knowing.reconfigure([source, explaining(knowledge)]) });
    },
    () => undefined,
  );
  return view;
}

/** After a key without a value, its content is one level deeper; elsewhere the language support decides. */
function deeper(line: string): number | undefined {
  if (!/(:|:\s+[|>][+-]?)\s*$/.test(line) || /^\s*#/.test(line)) return undefined;
  return line.length - line.replace(/^\s*(-\s+)*/, "").length + 2;
}

function basics(parts: EditorParts): Extension[] {
  const save = () => {
    parts.onSave();
    return true;
  };
  // Keeps the line endings of the original text.
  const windows = parts.document.includes("\r\n");
  return [
    theme(),
    EditorView.contentAttributes.of({ tabindex: "0" }),
    windows ? EditorState.lineSeparator.of("\r\n") : [],
    lineNumbers(), foldGutter(), lintGutter(), history(), drawSelection(), indentOnInput(), bracketMatching(), closeBrackets(),
    highlightActiveLine(), highlightActiveLineGutter(), highlightSelectionMatches(),
    indentUnit.of("  "),
    indentService.of((context, position) => deeper(context.lineAt(position, -1).text)),
    EditorState.tabSize.of(2),
    yaml(),
    EditorState.readOnly.of(parts.readOnly),
    EditorView.contentAttributes.of({ "aria-label": parts.label }),
    EditorView.updateListener.of((update) => { if (update.docChanged) parts.onChange(update.view); }),
    keymap.of([
      { key: "Mod-s", run: save, preventDefault: true },
      ...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...completionKeymap, ...lintKeymap,
      // Escape, then Tab, leaves the editor.
      indentWithTab,
    ]),
  ];
}
