//! A native modal dialog over the canvas, which traps and restores the focus. A click outside closes it.

import { useLayoutEffect, useRef, type CSSProperties, type ReactNode } from "react";

/** `at` is a point of the page for an anchored dialog; without it the dialog is centred. */
export function Modal({ label, look, at, onClose, children }: { label: string; look: string; at?: { x: number; y: number } | undefined; onClose: () => void; children: ReactNode }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => { element?.close(); };
  }, []);
  return (
    <dialog
      className={`cv-modal ${look}`}
      ref={dialog}
      aria-label={label}
      style={at ? placed(at) : undefined}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onPointerDown={(event) => { if (event.target === dialog.current) onClose(); }}
      onContextMenu={(event) => { event.preventDefault(); }}
    >
      <div className="cv-modal-body">{children}</div>
    </dialog>
  );
}

const ROOM = { width: 320, height: 380 };

// Inside the window, wherever the point is.
function placed({ x, y }: { x: number; y: number }): CSSProperties {
  const left = Math.max(8, Math.min(x, innerWidth - ROOM.width - 8));
  const top = Math.max(8, Math.min(y, innerHeight - ROOM.height - 8));
  return { margin: 0, left, top };
}
