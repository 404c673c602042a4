//! xyflow shows the view and the nodes that have elements; edges and everything far away are on the surfaces below.

import "@xyflow/react/dist/base.css";
import { ReactFlow, type ReactFlowInstance } from "@xyflow/react";
import { memo, useCallback, useSyncExternalStore } from "react";
import { useStage } from "./context";
import type { FlowNode } from "./mounts";
import { FrameNode } from "./nodes/frame";
import { NoteNode } from "./nodes/note";
import { TaskNode } from "./nodes/task";
import { ZOOM } from "./size";
import type { View } from "./view";

const KINDS = { task: TaskNode, frame: FrameNode, note: NoteNode };
const NO_EDGES: never[] = [];
const OURS = { hideAttribution: true };
const BUTTONS = [0, 1];

/** The flow. */
export const Flow = memo(function Flow() {
  const stage = useStage();
  const nodes = useSyncExternalStore(stage.mounts.subscribe, () => stage.mounts.nodes);
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
    />
  );
});
