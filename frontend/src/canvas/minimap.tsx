//! An overview of the whole drawing; the marked visible part can be dragged.

import { useEffect, useRef, type PointerEvent } from "react";
import { t } from "../core/texts";
import { useEditor } from "../editor/store";
import { useStage } from "./context";
import { coloursIn } from "./paint/colours";
import type { Stage } from "./stage";
import { around, fitted, inSight, toDrawing, type Size, type View } from "./view";

const SIZE: Size = { width: 176, height: 112 };

/** The minimap. It is for the mouse; commands offer the same by keyboard. */
export function Minimap() {
  const stage = useStage();
  const surface = useRef<HTMLCanvasElement>(null);
  const marker = useRef<HTMLDivElement>(null);
  const many = useEditor(stage.store, (state) => state.document.tasks.length > 4);
  useEffect(() => {
    if (!surface.current || !marker.current) return;
    return watch(stage, surface.current, marker.current);
  }, [stage, many]);
  if (!many) return null;
  const go = (event: PointerEvent<HTMLDivElement>) => {
    if (event.buttons !== 1) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    const box = event.currentTarget.getBoundingClientRect();
    const map = mapView(stage);
    const { x, y } = toDrawing(map, event.clientX - box.left, event.clientY - box.top);
    const { zoom } = stage.view;
    stage.camera.show({ zoom, x: stage.size.width / 2 - x * zoom, y: stage.size.height / 2 - y * zoom });
  };
  return (
    <div className="cv-map" role="img" aria-label={t("canvas.minimap")} onPointerDown={go} onPointerMove={go}>
      <canvas ref={surface} width={SIZE.width * 2} height={SIZE.height * 2} />
      <div className="cv-map-seen" ref={marker} />
    </div>
  );
}

function mapView(stage: Stage): View {
  const all = around([stage.scene.bounds() ?? { x: 0, y: 0, width: 1, height: 1 }]);
  return fitted(all ?? { x: 0, y: 0, width: 1, height: 1 }, SIZE, 0.25, 8);
}

// The drawing is repainted only after changes; the marker follows the view.
function watch(stage: Stage, surface: HTMLCanvasElement, marker: HTMLElement): () => void {
  let [frame, timer] = [0, 0];
  let map = mapView(stage);
  const mark = () => {
    frame = 0;
    const seen = inSight(stage.view, stage.size);
    const [left, top] = [Math.max(0, seen.x * map.zoom + map.x), Math.max(0, seen.y * map.zoom + map.y)];
    const right = Math.min(SIZE.width, (seen.x + seen.width) * map.zoom + map.x);
    const bottom = Math.min(SIZE.height, (seen.y + seen.height) * map.zoom + map.y);
    marker.style.transform = `translate(${left}px,${top}px)`;
    // Rounded: setting an unchanged size causes no layout.
    marker.style.width = `${Math.max(4, right - left).toFixed(1)}px`;
    marker.style.height = `${Math.max(4, bottom - top).toFixed(1)}px`;
  };
  const soonMark = () => { frame ||= requestAnimationFrame(mark); };
  const soonPaint = () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      map = mapView(stage);
      paint(stage, surface, map);
      mark();
    }, 120);
  };
  paint(stage, surface, map);
  mark();
  const stops = [stage.store.subscribe(soonPaint), stage.camera.onView(soonMark), stage.onScene(soonPaint)];
  return () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    for (const stop of stops) stop();
  };
}

function paint(stage: Stage, surface: HTMLCanvasElement, { x, y, zoom }: View): void {
  const to = surface.getContext("2d");
  if (!to) return;
  const colours = coloursIn(surface.parentElement ?? document.body);
  to.setTransform(1, 0, 0, 1, 0, 0);
  to.clearRect(0, 0, surface.width, surface.height);
  to.setTransform(2 * zoom, 0, 0, 2 * zoom, 2 * x, 2 * y);
  const least = 1.5 / zoom;
  for (const node of stage.scene.nodes.values()) {
    to.fillStyle = colours[stage.look(node).colour];
    to.fillRect(node.x, node.y, Math.max(least, node.width), Math.max(least, node.height));
  }
}
