//! xyflow shows the view and the nodes with elements; edges and distant nodes are painted on the surfaces
//! below.

import "@xyflow/react/dist/base.css";
import { ReactFlow, type ReactFlowInstance } from "@xyflow/react";
import { lazy, memo, Suspense, useCallback, useSyncExternalStore } from "react";
import { useEditor } from "../editor/store";
import { useStage } from "./context";
import type { FlowNode } from "./mounts";
import { FrameNode } from "./nodes/frame";
import { NoteNode } from "./nodes/note";
import { TaskNode } from "./nodes/task";
import { ZOOM } from "./size";
import type { View } from "./view";

const Ghosts = lazy(async () => ({ default: (await import("./over/ghosts")).Ghosts }));

const KINDS = { task: TaskNode, frame: FrameNode, note: NoteNode };
const NO_EDGES: never[] = [];
const OURS = { hideAttribution: true };
const BUTTONS = [0, 1];

export const Flow = memo(function Flow() {
  const stage = useStage();
  const nodes = useSyncExternalStore(stage.mounts.subscribe, () => stage.mounts.nodes);
  const against = useEditor(stage.store, (state) => state.against);
  const ready = useCallback((flow: ReactFlowInstance<FlowNode>) => { stage.camera.ready(flow); }, [stage]);
  const moved = useCallback((_: unknown, view: View) => { stage.viewed(view); }, [stage]);
  return (
    <ReactFlow
      nodes={nodes}
      edges={NO_EDGES}
      nodeTypes={KINDS}
      defaultViewport={stage.view}
      onInit={ready}
      onMove={moved}
      minZoom={ZOOM.least}
      maxZoom={ZOOM.most}
      panOnDrag={BUTTONS}
      zoomOnDoubleClick={false}
      nodesDraggable={false}
      nodesConnectable={false}
      nodesFocusable={false}
      elementsSelectable={false}
      selectionKeyCode={null}
      multiSelectionKeyCode={null}
      deleteKeyCode={null}
      panActivationKeyCode="Space"
      disableKeyboardA11y
      proOptions={OURS}
    >
      {against ? <Suspense><Ghosts before={against} /></Suspense> : null}
    </ReactFlow>
  );
});
