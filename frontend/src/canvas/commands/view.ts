//! Zoom, pan and help commands.

import { openFinder } from "../../components/finder/watch";
import { itemOf } from "../../graph/document";
import { ZOOM } from "../size";
import type { Stage } from "../stage";
import { around, type Rect } from "../view";
import type { Command } from "./command";
import { fewer } from "./refusals";

/** The bounding box of the selection. */
export function selected(stage: Stage): Rect | null {
  const { scene, store } = stage;
  return around([...store.state.selection].flatMap((id): Rect[] => {
    const { kind, name } = itemOf(id);
    if (kind === "edge") return name.split(">").map((end) => scene.nodes.get(end)).filter((node) => node !== undefined);
    return [scene.placeOf(id)].filter((place) => place !== null);
  }));
}

export const VIEW: readonly Command[] = [
  { id: "fit", group: "view", label: /* text */ "canvas.fit", keys: ["f"], perform: (stage) => { stage.camera.fit(); } },
  { id: "fit-selection", group: "view", label: /* text */ "canvas.fit-selection", keys: ["Shift+F"], refusal: (stage) => fewer(stage, 1), perform: (stage) => { stage.camera.fit(selected(stage)); } },
  { id: "zoom-in", group: "view", label: /* text */ "canvas.zoom-in", keys: ["+", "="], perform: (stage) => { stage.camera.zoomBy(ZOOM.step); } },
  { id: "zoom-out", group: "view", label: /* text */ "canvas.zoom-out", keys: ["-"], perform: (stage) => { stage.camera.zoomBy(1 / ZOOM.step); } },
  { id: "zoom-life", group: "view", label: /* text */ "canvas.zoom-life", keys: ["0"], perform: (stage) => { stage.camera.zoomBy(1 / stage.view.zoom); } },
  { id: "commands", group: "help", label: /* text */ "canvas.commands", keys: ["(Mod+k)"], perform: () => void openFinder() },
  { id: "shortcuts", group: "help", label: /* text */ "canvas.shortcuts", keys: ["?"], perform: ({ ui }) => { ui.set({ open: { kind: "shortcuts" } }); } },
];
