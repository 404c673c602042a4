//! A note on the canvas.

import { memo } from "react";
import { focused } from "../../core/dom";
import { t } from "../../core/texts";
import { useEditor } from "../../editor/store";
import { changeNote } from "../../graph/edit";
import { useStage } from "../context";
import { useUi } from "../ui";

/** The note with the id in `data`. */
export const NoteNode = memo(function NoteNode({ data: { name } }: { data: { name: string } }) {
  const stage = useStage();
  const note = useEditor(stage.store, (state) => state.document.canvas?.notes?.[name]);
  const selected = useEditor(stage.store, (state) => state.selection.has(`note:${name}`));
  const editing = useUi(stage.ui, (state) => state.editing === `note:${name}`);
  if (!note) return null;
  const write = (text: string) => {
    stage.ui.set({ editing: null });
    stage.apply(t("canvas.step-note-text"), (document) => changeNote(document, name, { text }));
    stage.root?.focus();
  };
  return (
    <div className="cv-note" id={`note-${name}`} role="group" aria-label={t("canvas.note-of", { text: note.text })} data-selected={selected || undefined}>
      {editing ? (
        <textarea
          className="nokey nowheel"
          aria-label={t("canvas.note-text")}
          defaultValue={note.text}
          ref={focused}
          onBlur={(event) => { write(event.currentTarget.value); }}
          onKeyDown={(event) => {
            event.stopPropagation();
            if (event.key === "Escape") event.currentTarget.blur();
          }}
        />
      ) : (
        <p className="cv-note-text">{note.text || t("canvas.note-empty")}</p>
      )}
      <span className="cv-note-corner" />
    </div>
  );
});
