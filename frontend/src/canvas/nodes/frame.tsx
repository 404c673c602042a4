//! A frame around tasks: its border and its editable title.

import { memo } from "react";
import { focused } from "../../core/dom";
import { t } from "../../core/texts";
import { useEditor } from "../../editor/store";
import { renameFrame } from "../../graph/edit";
import { useStage } from "../context";
import { useUi } from "../ui";

/** The frame with the id in `data`. */
export const FrameNode = memo(function FrameNode({ data: { name } }: { data: { name: string } }) {
  const stage = useStage();
  const frame = useEditor(stage.store, (state) => state.document.canvas?.frames?.[name]);
  const selected = useEditor(stage.store, (state) => state.selection.has(`frame:${name}`));
  const editing = useUi(stage.ui, (state) => state.editing === `frame:${name}`);
  if (!frame) return null;
  const write = (title: string) => {
    stage.ui.set({ editing: null });
    stage.apply(t("canvas.step-frame-title"), (document) => renameFrame(document, name, title));
    stage.root?.focus();
  };
  return (
    <div className="cv-frame" id={`frame-${name}`} role="group" aria-label={t("canvas.frame-of", { title: frame.title, tasks: frame.tasks.join(", ") })} data-selected={selected || undefined}>
      {editing ? (
        <input
          className="cv-frame-title input nokey"
          aria-label={t("canvas.frame-title")}
          defaultValue={frame.title}
          ref={focused}
          onFocus={(event) => { event.currentTarget.select(); }}
          onBlur={(event) => { write(event.currentTarget.value.trim() || frame.title); }}
          onKeyDown={(event) => {
            event.stopPropagation();
            if (event.key === "Enter") event.currentTarget.blur();
            if (event.key === "Escape") {
              event.currentTarget.value = frame.title;
              event.currentTarget.blur();
            }
          }}
        />
      ) : (
        <div className="cv-frame-title clip">{frame.title}</div>
      )}
    </div>
  );
});
