//! Removed tasks of the compared version: drawn at their old positions, without interaction except for a
//! click, which shows their fields.

import { useEffect, useMemo, useState } from "react";
import { ViewportPortal } from "@xyflow/react";
import { clip } from "../../components/dag/clip";
import { t } from "../../core/texts";
import { useEditor } from "../../editor/store";
import { NODE, positionOf, type PipelineDocument } from "../../graph/document";
import { goneSince, type Gone } from "../../graph/gone";
import { through } from "../../graph/line";
import type { Direction, Edge, Point } from "../../graph/types";
import { useStage } from "../context";
import { source, target } from "../curve";
import { requestLayout, type Places } from "../layout";
import type { Stage } from "../stage";
import type { Rect } from "../view";

/** More than these would hide the drawing; the list of changes has them all. */
const MOST = 300;

const ROOM = 190;

export function Ghosts({ before }: { before: PipelineDocument }) {
  const stage = useStage();
  const document = useEditor(stage.store, (state) => state.document);
  const chosen = useEditor(stage.store, (state) => state.ghost);
  const gone = useMemo(() => goneSince(before, document), [before, document]);
  const places = usePlaces(stage, before, gone);
  const boxes = new Map(gone.tasks.slice(0, MOST).flatMap(({ name }): [string, Rect][] => {
    const at = positionOf(before, name) ?? places[name];
    return at ? [[name, { x: at[0], y: at[1], ...NODE }]] : [];
  }));
  const shown = chosen === null ? undefined : boxes.get(chosen);
  useEffect(() => { if (shown) stage.camera.reveal(shown); }, [stage, chosen, shown !== undefined]);
  return (
    <ViewportPortal>
      <Lines edges={gone.edges} boxes={boxes} stage={stage} />
      {gone.tasks.map(({ name, template }) => {
        const box = boxes.get(name);
        return box ? (
          <button
            key={name} type="button" className="cv-ghost nopan" style={{ left: box.x, top: box.y, width: box.width, height: box.height }}
            aria-pressed={chosen === name} title={t("canvas.ghost", { task: name })} onClick={() => { stage.store.lookBack(name); }}
          >
            <span className="cv-mark">{t("canvas.mark-removed")}</span>
            <span className="cv-task-name">{clip(name, ROOM, 14.5)}</span>
            <span className="cv-task-template">{clip(template, ROOM, 12)}</span>
          </button>
        ) : null;
      })}
    </ViewportPortal>
  );
}

// A version without positions was laid out when it was shown: the same layout is computed again, around the
// remaining tasks.
function usePlaces(stage: Stage, before: PipelineDocument, gone: Gone): Places {
  const [places, setPlaces] = useState<Places>({});
  const homeless = gone.tasks.some(({ name }) => !positionOf(before, name));
  useEffect(() => {
    if (!homeless) return;
    const end = new AbortController();
    const previous = Object.fromEntries([...stage.scene.nodes.values()].map(({ name, x, y }): [string, Point] => [name, [x, y]]));
    void requestLayout(before, before.canvas?.direction ?? "right", { previous, signal: end.signal }).then((found) => { if (found) setPlaces(found); });
    return () => { end.abort(); };
  }, [stage, before, homeless]);
  return places;
}

function Lines({ edges, boxes, stage }: { edges: readonly Edge[]; boxes: ReadonlyMap<string, Rect>; stage: Stage }) {
  const { direction, nodes } = stage.scene;
  const path = edges.map(({ from, to }) => {
    const [start, end] = [boxes.get(from) ?? nodes.get(from), boxes.get(to) ?? nodes.get(to)];
    return start && end ? lineOf(start, end, direction) : "";
  });
  return <svg className="cv-ghost-lines" aria-hidden="true"><path d={path.join("")} /></svg>;
}

function lineOf(from: Rect, to: Rect, direction: Direction): string {
  return through([source(from, direction), target(to, direction)], direction).map(([x, y, ...rest]) => `M${x} ${y}C${rest.join(" ")}`).join("");
}
