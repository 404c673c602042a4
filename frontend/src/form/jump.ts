//! Navigation to a field, from the list of problems or from elsewhere.

import { useEffect, type RefObject } from "react";
import { useEditor, type EditorStore } from "../editor/store";
import { isWithin } from "./path";
import { taskIndex } from "./by-place";

/** Selects the task that a pointer leads into, or nothing, and requests the field. */
export function goTo(store: EditorStore, pointer: string): void {
  const index = taskIndex(pointer);
  const task = index === null ? undefined : store.state.document.tasks[index];
  store.select(task ? [`task:${task.name}`] : []);
  store.set({ wanted: { pointer } });
}

/** Shows and focuses the requested field: the innermost one around its pointer, else the first one in it. */
export function useJumps(store: EditorStore, form: RefObject<HTMLElement | null>): void {
  const wanted = useEditor(store, (state) => state.wanted);
  useEffect(() => {
    if (!wanted) return;
    // Its section opens at the same time.
    const frame = requestAnimationFrame(() => {
      const found = form.current && nearest(form.current, wanted.pointer);
      found?.scrollIntoView({ block: "center" });
      const control = found?.querySelector<HTMLElement>("input, textarea, select, button:not(.form-field-actions *)");
      (control ?? found)?.focus({ preventScroll: true });
      store.set({ wanted: null });
    });
    return () => { cancelAnimationFrame(frame); };
  }, [wanted]);
}

function nearest(form: HTMLElement, pointer: string): HTMLElement | null {
  let best: HTMLElement | null = null;
  let first: HTMLElement | null = null;
  for (const element of form.querySelectorAll<HTMLElement>("[data-pointer]")) {
    const own = element.dataset["pointer"] ?? "";
    if (isWithin(pointer, own) && own.length >= (best?.dataset["pointer"]?.length ?? 0)) best = element;
    else if (isWithin(own, pointer)) first ??= element;
  }
  return best ?? first;
}
