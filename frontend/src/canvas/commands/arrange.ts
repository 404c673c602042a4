//! Layout, alignment and frames.

import { t } from "../../core/texts";
import { tasksIn, type PipelineDocument } from "../../graph/document";
import { align, dissolveFrame, distribute, makeFrame, place, withCanvas, type Alignment } from "../../graph/edit";
import type { Direction } from "../../graph/types";
import { requestLayout, type Places } from "../layout";
import { glide } from "../glide";
import type { Stage } from "../stage";
import type { Command } from "./command";
import { fewer, first, locked } from "./refusals";

const empty = (stage: Stage) => (stage.document.tasks.length === 0 ? t("canvas.refused-empty") : null);

async function layOut(stage: Stage, direction: Direction): Promise<void> {
  const before = stage.document;
  const places = await stage.layouts.make((signal) => placesFor(before, direction, signal));
  if (!places) return;
  // The document has changed meanwhile, so the layout is outdated.
  if (stage.document.tasks !== before.tasks && stage.document !== before) {
    stage.ui.announce(t("canvas.said-layout-stale"));
    return;
  }
  glide(stage, () => {
    stage.apply(t("canvas.step-layout"), (document) => withCanvas(place(document, places), { direction: direction === "down" ? direction : undefined }));
  });
  stage.camera.fit();
  stage.ui.announce(t("canvas.said-layout"));
}

// Tasks keep their order, so that one more task does not rearrange everything. If that changes nothing, a
// repeated command requests a different drawing.
async function placesFor(document: PipelineDocument, direction: Direction, signal: AbortSignal): Promise<Places | null> {
  const { positions = {}, direction: present = "right" } = document.canvas ?? {};
  const kept = direction === present ? await requestLayout(document, direction, { previous: positions, signal }) : null;
  if (signal.aborted) return null;
  const moves = kept && Object.entries(kept).some(([name, [x, y]]) => positions[name]?.[0] !== x || positions[name][1] !== y);
  return moves ? kept : await requestLayout(document, direction, { signal });
}

function aligning(id: Alignment, label: string): Command {
  return {
    id: `align-${id}`,
    group: "arrange",
    label,
    refusal: first(locked, (stage) => fewer(stage, 2)),
    perform: (stage) => { stage.apply(t("canvas.step-align"), (document) => align(document, stage.store.state.selection, id)); },
  };
}

function distributing(direction: "horizontal" | "vertical", label: string): Command {
  return {
    id: `distribute-${direction}`,
    group: "arrange",
    label,
    refusal: first(locked, (stage) => fewer(stage, 3)),
    perform: (stage) => { stage.apply(t("canvas.step-align"), (document) => distribute(document, stage.store.state.selection, direction)); },
  };
}

export const ARRANGE: readonly Command[] = [
  { id: "layout-right", group: "arrange", label: /* text */ "canvas.layout-right", keys: ["Shift+L"], refusal: first(locked, empty), perform: (stage) => void layOut(stage, "right") },
  { id: "layout-down", group: "arrange", label: /* text */ "canvas.layout-down", refusal: first(locked, empty), perform: (stage) => void layOut(stage, "down") },
  aligning("left", /* text */ "canvas.align-left"),
  aligning("centre", /* text */ "canvas.align-centre"),
  aligning("right", /* text */ "canvas.align-right"),
  aligning("top", /* text */ "canvas.align-top"),
  aligning("middle", /* text */ "canvas.align-middle"),
  aligning("bottom", /* text */ "canvas.align-bottom"),
  distributing("horizontal", /* text */ "canvas.distribute-horizontal"),
  distributing("vertical", /* text */ "canvas.distribute-vertical"),
  {
    id: "frame",
    group: "arrange",
    label: /* text */ "canvas.frame",
    keys: ["Mod+g"],
    refusal: first(locked, (stage) => (tasksIn(stage.store.state.selection).length === 0 ? t("canvas.refused-nothing") : null)),
    perform: (stage) => {
      let id = "";
      stage.apply(t("canvas.step-frame"), (document) => {
        const made = makeFrame(document, tasksIn(stage.store.state.selection), t("canvas.frame-new"));
        id = made.id;
        return made.document;
      });
      stage.store.select([`frame:${id}`]);
      stage.ui.set({ editing: `frame:${id}` });
    },
  },
  {
    id: "unframe",
    group: "arrange",
    label: /* text */ "canvas.unframe",
    keys: ["Mod+Shift+g"],
    refusal: first(locked, ({ store }) => ([...store.state.selection].some((id) => id.startsWith("frame:")) ? null : t("canvas.refused-frame"))),
    perform: (stage) => {
      const frames = [...stage.store.state.selection].filter((id) => id.startsWith("frame:")).map((id) => id.slice("frame:".length));
      stage.apply(t("canvas.step-unframe"), (document) => frames.reduce(dissolveFrame, document));
    },
  },
];
