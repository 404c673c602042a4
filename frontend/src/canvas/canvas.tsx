//! The canvas: an editable drawing of a pipeline. All changes go through the editor's store.

import "../styles/canvas.css";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { offer } from "../components/finder/watch";
import { t } from "../core/texts";
import { useEditor, type EditorStore } from "../editor/store";
import type { Templates } from "../editor/templates";
import { StageContext } from "./context";
import { Controls } from "./controls";
import { Flow } from "./flow";
import { Pointer } from "./gestures/pointer";
import { watchMouse } from "./gestures/mouse";
import { watchKeys } from "./keys";
import { Over, Side } from "./over/over";
import { Stage, type Doors } from "./stage";
import { useUi } from "./ui";

/** Props from the page. `onOpen` opens a task's form, `onLogs` its log. */
export interface CanvasProps extends Doors {
  store: EditorStore;
  templates: Templates;
  /** Receives the stage, for control from outside. */
  onStage?: (stage: Stage) => void;
}

/** Fills its parent element. */
export function Canvas({ store, templates, onOpen, onLogs, onStage }: CanvasProps) {
  const [stage] = useState(() => new Stage(store, templates, { onOpen, onLogs }));
  useEffect(() => {
    stage.ui.set({ templates });
    stage.doors = { onOpen, onLogs };
    stage.paint();
  }, [stage, templates, onOpen, onLogs]);
  useEffect(() => { onStage?.(stage); }, [stage, onStage]);
  useEffect(() => offer(() => import("./found").then(({ sections }) => sections(stage))), [stage]);
  return (
    <StageContext value={stage}>
      <div className="cv">
        <Side />
        <div className="cv-room">
          <Drawing stage={stage} />
          <Over />
          <Controls />
        </div>
      </div>
    </StageContext>
  );
}

function Drawing({ stage }: { stage: Stage }) {
  const [root, base, top] = [useRef<HTMLDivElement>(null), useRef<HTMLCanvasElement>(null), useRef<HTMLCanvasElement>(null)];
  const [attached, setAttached] = useState(false);
  useLayoutEffect(() => {
    if (!root.current || !base.current || !top.current) return;
    const detach = stage.attach(root.current, base.current, top.current);
    const pointer = new Pointer(stage, root.current);
    const stops = [detach, pointer.listen(), watchMouse(stage, root.current, pointer), watchKeys(stage, root.current, pointer)];
    setAttached(true);
    return () => { for (const stop of stops) stop(); };
  }, [stage]);
  const detail = useUi(stage.ui, (state) => state.detail);
  const cursor = useUi(stage.ui, (state) => state.cursor);
  const connecting = useUi(stage.ui, (state) => state.connecting !== null);
  const dragging = useUi(stage.ui, (state) => state.dragging);
  const direction = useEditor(stage.store, (state) => state.document.canvas?.direction ?? "right");
  const said = useUi(stage.ui, (state) => state.said);
  return (
    <>
      <div
        className="cv-stage"
        ref={root}
        tabIndex={0}
        role="application"
        aria-label={t("canvas.label")}
        aria-describedby="cv-hint"
        aria-activedescendant={cursor && detail === "near" ? cursor.replace(":", "-") : undefined}
        data-detail={detail}
        data-connecting={connecting || undefined}
        data-dragging={dragging || undefined}
        data-direction={direction}
      >
        <canvas className="cv-surface" ref={base} aria-hidden="true" />
        <canvas className="cv-surface" ref={top} aria-hidden="true" />
        {attached ? <Flow /> : null}
      </div>
      <p className="visually-hidden" id="cv-hint">{t("canvas.hint")}</p>
      <p className="visually-hidden" role="status" aria-live="polite">{said}</p>
    </>
  );
}
