//! The stage, for every component of the canvas.

import { createContext, useContext } from "react";
import type { Stage } from "./stage";

/** Given by the canvas. */
export const StageContext = createContext<Stage | null>(null);

/** The stage of the canvas around. */
export function useStage(): Stage {
  const stage = useContext(StageContext);
  if (!stage) throw new Error("there is no canvas around");
  return stage;
}
