//! A resizable, collapsible panel beside the canvas, whose state is stored. On a narrow screen it overlays
//! the canvas.

import { useState, type KeyboardEvent, type PointerEvent, type ReactNode } from "react";
import { t } from "../core/texts";

const LEAST = 200;
const MOST = 720;
const STEP = 16;

interface PanelProps {
  /** The key under which its width is stored. */
  name: string;
  side: "left" | "right";
  label: string;
  width: number;
  open: boolean;
  children: ReactNode;
}

export function SidePanel({ name, side, label, width: first, open, children }: PanelProps) {
  const key = `cubeloom.editor.${name}`;
  const [width, setWidth] = useState(() => within(Number(localStorage.getItem(key)) || first));
  const set = (wanted: number) => {
    const next = within(wanted);
    setWidth(next);
    localStorage.setItem(key, String(next));
  };
  const sign = side === "left" ? 1 : -1;
  const keys = (event: KeyboardEvent) => {
    const by = event.key === "ArrowRight" ? STEP : event.key === "ArrowLeft" ? -STEP : 0;
    if (by === 0) return;
    event.preventDefault();
    set(width + sign * by);
  };
  return (
    <aside className={`ed-side ed-${side}`} aria-label={label} hidden={!open} style={{ width }} onKeyDown={leave}>
      <div className="ed-side-body">{children}</div>
      <div
        className="ed-grip"
        role="separator"
        tabIndex={0}
        aria-orientation="vertical"
        aria-label={t("editor.resize")}
        aria-valuenow={width}
        aria-valuemin={LEAST}
        aria-valuemax={MOST}
        onKeyDown={keys}
        onPointerDown={(event) => { drag(event, width, sign, set); }}
      />
    </aside>
  );
}

/** Escape returns to the canvas. */
function leave(event: KeyboardEvent): void {
  if (event.key === "Escape" && !event.defaultPrevented) document.querySelector<HTMLElement>(".cv-stage")?.focus();
}

function within(width: number): number {
  return Math.min(MOST, Math.max(LEAST, Math.round(width)));
}

function drag(event: PointerEvent<HTMLElement>, width: number, sign: 1 | -1, set: (width: number) => void): void {
  if (event.button !== 0) return;
  event.preventDefault();
  const grip = event.currentTarget;
  const from = event.clientX;
  grip.setPointerCapture(event.pointerId);
  const move = (moved: globalThis.PointerEvent) => { set(width + sign * (moved.clientX - from)); };
  const end = () => {
    grip.removeEventListener("pointermove", move);
    grip.removeEventListener("pointerup", end);
    grip.removeEventListener("pointercancel", end);
  };
  grip.addEventListener("pointermove", move);
  grip.addEventListener("pointerup", end);
  grip.addEventListener("pointercancel", end);
}
