//! What xyflow does by itself with the same nodes: its own nodes, edges, culling and dragging.

import "@xyflow/react/dist/style.css";
import { applyNodeChanges, Handle, Position, ReactFlow, type Edge, type Node, type NodeChange, type NodeProps } from "@xyflow/react";
import { memo, useCallback, useState } from "react";
import { edgesOf, NODE, type PipelineDocument } from "../src/graph/document";

type Simple = Node<{ label: string; sub: string }, "simple">;

const SimpleNode = memo(function SimpleNode({ data }: NodeProps<Simple>) {
  return (
    <div className="bare">
      <Handle type="target" position={Position.Left} />
      <strong>{data.label}</strong>
      <span>{data.sub}</span>
      <Handle type="source" position={Position.Right} />
    </div>
  );
});

const KINDS = { simple: SimpleNode };

/** The flow of a document, all of it mounted or only what is in sight. */
export function Bare({ document, culled }: { document: PipelineDocument; culled: boolean }) {
  const [nodes, setNodes] = useState<Simple[]>(() =>
    document.tasks.map(({ name, template }) => {
      const [x, y] = document.canvas?.positions?.[name] ?? [0, 0];
      return { id: name, type: "simple", position: { x, y }, data: { label: name, sub: template }, style: NODE };
    }),
  );
  const [edges] = useState<Edge[]>(() => edgesOf(document).map(({ from, to }) => ({ id: `${from}>${to}`, source: from, target: to })));
  const changed = useCallback((changes: NodeChange<Simple>[]) => { setNodes((old) => applyNodeChanges(changes, old)); }, []);
  return (
    <ReactFlow nodes={nodes} edges={edges} nodeTypes={KINDS} onNodesChange={changed} minZoom={0.01} maxZoom={2} fitView onlyRenderVisibleElements={culled} onInit={(flow) => { Object.assign(window, { flow }); }} />
  );
}
