//! Undo, copy and delete commands.

import { t } from "../../core/texts";
import { duplicate } from "../../graph/clipboard";
import { copySelection, pasteFromClipboard } from "../clipboard";
import { removeSelection } from "../remove";
import type { Stage } from "../stage";
import type { Command } from "./command";
import { fewer, first, locked } from "./refusals";

const some = (stage: Stage) => fewer(stage, 1);

export const EDIT: readonly Command[] = [
  {
    id: "undo",
    group: "edit",
    label: /* text */ "canvas.undo",
    keys: ["Mod+z"],
    refusal: first(locked, ({ store }) => (store.undoLabel === null ? t("canvas.refused-undo") : null)),
    perform: (stage) => {
      const { undoLabel } = stage.store;
      stage.store.undo();
      stage.ui.announce(t("canvas.said-undone", { step: undoLabel ?? "" }));
    },
  },
  {
    id: "redo",
    group: "edit",
    label: /* text */ "canvas.redo",
    keys: ["Mod+Shift+z", "Mod+y"],
    refusal: first(locked, ({ store }) => (store.redoLabel === null ? t("canvas.refused-redo") : null)),
    perform: (stage) => {
      const { redoLabel } = stage.store;
      stage.store.redo();
      stage.ui.announce(t("canvas.said-redone", { step: redoLabel ?? "" }));
    },
  },
  {
    id: "cut",
    group: "edit",
    label: /* text */ "canvas.cut",
    keys: ["(Mod+x)"],
    refusal: first(locked, some),
    perform: (stage) => {
      copySelection(stage);
      removeSelection(stage);
    },
  },
  { id: "copy", group: "edit", label: /* text */ "canvas.copy", keys: ["(Mod+c)"], refusal: some, perform: copySelection },
  { id: "paste", group: "edit", label: /* text */ "canvas.paste", keys: ["(Mod+v)"], refusal: locked, perform: (stage) => void pasteFromClipboard(stage) },
  {
    id: "duplicate",
    group: "edit",
    label: /* text */ "canvas.duplicate",
    keys: ["Mod+d"],
    refusal: first(locked, some),
    perform: (stage) => {
      let items: readonly `task:${string}`[] = [];
      const { selection } = stage.store.state;
      stage.apply(t("canvas.step-duplicate"), (document) => {
        const pasted = duplicate(document, selection);
        items = pasted.items as typeof items;
        return pasted.document;
      });
      stage.store.select(items);
    },
  },
  {
    id: "delete",
    group: "edit",
    label: /* text */ "canvas.delete",
    keys: ["Delete", "Backspace"],
    refusal: first(locked, ({ store }) => (store.state.selection.size === 0 ? t("canvas.refused-nothing") : null)),
    perform: removeSelection,
  },
  {
    id: "select-all",
    group: "select",
    label: /* text */ "canvas.select-all",
    keys: ["Mod+a"],
    perform: (stage) => {
      const { scene, store } = stage;
      store.select([
        ...[...scene.nodes.keys()].map((name) => `task:${name}` as const),
        ...scene.notes.map(({ id }) => `note:${id}` as const),
        ...scene.frames.map(({ id }) => `frame:${id}` as const),
      ]);
      stage.ui.announce(t("canvas.said-selected", { n: store.state.selection.size }));
    },
  },
  {
    id: "select-none",
    group: "select",
    label: /* text */ "canvas.select-none",
    keys: ["Escape"],
    refusal: some,
    perform: ({ store }) => { store.select([]); },
  },
];
