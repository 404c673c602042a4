//! Copy and paste through the browser's clipboard: as document text, which can be pasted into another tab,
//! another pipeline, or a text editor.

import { t } from "../core/texts";
import { toast } from "../core/toast";
import { clipOf, clipText, paste, type Clip } from "../graph/clipboard";
import type { ItemId } from "../graph/document";
import { place } from "../graph/edit";
import { removeSelection } from "./remove";
import { NOTE } from "./size";
import { onGrid } from "./snap";
import type { Stage } from "./stage";
import { inSight, toDrawing } from "./view";

/** Handles the clipboard events of an element. Returns the unsubscribe function. */
export function watchClipboard(stage: Stage, root: HTMLElement): () => void {
  const copy = (event: ClipboardEvent) => {
    const text = selectionText(stage);
    if (isWriting(event.target) || text === null) return;
    event.clipboardData?.setData("text/plain", text);
    event.preventDefault();
    stage.ui.announce(t("canvas.said-copied", { n: stage.store.state.selection.size }));
  };
  const cut = (event: ClipboardEvent) => {
    copy(event);
    if (event.defaultPrevented && !stage.readOnly) removeSelection(stage);
  };
  const put = (event: ClipboardEvent) => {
    if (isWriting(event.target) || stage.readOnly) return;
    event.preventDefault();
    void pasteText(stage, event.clipboardData?.getData("text/plain") ?? "");
  };
  root.addEventListener("copy", copy);
  root.addEventListener("cut", cut);
  root.addEventListener("paste", put);
  return () => {
    root.removeEventListener("copy", copy);
    root.removeEventListener("cut", cut);
    root.removeEventListener("paste", put);
  };
}

/** Copies the selection. */
export function copySelection(stage: Stage): void {
  const text = selectionText(stage);
  if (text === null) return;
  navigator.clipboard.writeText(text).then(
    () => { stage.ui.announce(t("canvas.said-copied", { n: stage.store.state.selection.size })); },
    () => { toast(t("canvas.clipboard-refused"), "error"); },
  );
}

/** Pastes the clipboard's content. */
export async function pasteFromClipboard(stage: Stage): Promise<void> {
  try {
    await pasteText(stage, await navigator.clipboard.readText());
  } catch {
    toast(t("canvas.clipboard-refused"), "error");
  }
}

/** Pastes a text: as tasks, or as a note if it is no part of a pipeline. */
export async function pasteText(stage: Stage, text: string): Promise<void> {
  if (text.trim() === "") return;
  const { clipFrom } = await import("../graph/paste-text");
  const clip = clipFrom(text) ?? noteOf(text);
  let items: readonly ItemId[] = [];
  stage.apply(t("canvas.step-paste"), (document) => {
    const pasted = paste(document, clip, landing(stage, clip));
    items = pasted.items;
    if (pasted.dropped.length > 0) {
      toast(t("canvas.paste-dropped", { needs: [...new Set(pasted.dropped.map(({ need }) => need))].join(", ") }));
    }
    return pasted.document;
  });
  stage.store.select(items);
  stage.ui.announce(t("canvas.said-pasted", { n: items.length }));
}

function selectionText(stage: Stage): string | null {
  const { selection, document } = stage.store.state;
  const clip = clipOf(place(document, stage.scene.unwritten), selection);
  return clip.tasks.length > 0 || clip.canvas ? clipText(clip) : null;
}

function noteOf(text: string): Clip {
  return { tasks: [], canvas: { notes: { n1: { text: text.trim().slice(0, 4000), at: [0, 0], size: [NOTE.width, NOTE.height] } } } };
}

// Beside the original if that is visible, else in the centre.
function landing(stage: Stage, clip: Clip): { by: [number, number] } | { at: [number, number] } {
  const seen = inSight(stage.view, stage.size);
  const places = [...Object.values(clip.canvas?.positions ?? {}), ...Object.values(clip.canvas?.notes ?? {}).map(({ at }) => at)];
  const isSeen = places.some(([x, y]) => x >= seen.x && y >= seen.y && x <= seen.x + seen.width && y <= seen.y + seen.height);
  if (isSeen && clip.tasks.some(({ name }) => stage.scene.nodes.has(name))) return { by: [32, 32] };
  const middle = toDrawing(stage.view, stage.size.width / 2, stage.size.height / 2);
  const [left, right] = [Math.min(...places.map(([x]) => x)), Math.max(...places.map(([x]) => x))];
  const [top, bottom] = [Math.min(...places.map(([, y]) => y)), Math.max(...places.map(([, y]) => y))];
  if (places.length === 0) return { at: [onGrid(middle.x), onGrid(middle.y)] };
  return { at: [onGrid(middle.x - (right - left) / 2 - 112), onGrid(middle.y - (bottom - top) / 2 - 36)] };
}

function isWriting(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("input, textarea") !== null;
}
