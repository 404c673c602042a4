//! The code editor's theme, in the page's colours.

import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const look = EditorView.theme({
  "&": { height: "100%", backgroundColor: "var(--surface)", color: "var(--text)", fontSize: "var(--text-sm)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6" },
  ".cm-content": { caretColor: "var(--text)", padding: "var(--space-3) 0" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--sunken)", color: "var(--text-faint)", border: "0" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--accent) 6%, transparent)" },
  ".cm-activeLineGutter": { backgroundColor: "var(--hover)", color: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground, ::selection": {
    backgroundColor: "color-mix(in srgb, var(--accent) 26%, transparent) !important",
  },
  ".cm-tooltip, .cm-panels": { border: "1px solid var(--border)", backgroundColor: "var(--raised)", color: "var(--text)" },
  ".cm-tooltip": { borderRadius: "var(--radius)", boxShadow: "var(--shadow-lg)" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
  ".cm-completionDetail": { color: "inherit", opacity: "0.75", fontStyle: "normal" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--danger-text)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--warning-text)" },
  ".cm-searchMatch": { backgroundColor: "var(--warning-tint)" },
});

const words = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--accent-text)" },
  { tag: [tags.string, tags.content], color: "var(--text)" },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: "var(--series-2)" },
  { tag: tags.comment, color: "var(--text-faint)", fontStyle: "italic" },
  { tag: [tags.punctuation, tags.separator, tags.bracket], color: "var(--text-muted)" },
  { tag: [tags.labelName, tags.typeName, tags.meta], color: "var(--series-3)" },
  { tag: tags.invalid, color: "var(--danger-text)" },
]);

/** Colours and fonts. The nonce allows the editor's style element under the CSP. */
export function theme(): Extension {
  const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.nonce ?? "";
  return [EditorView.cspNonce.of(nonce), look, syntaxHighlighting(words)];
}
