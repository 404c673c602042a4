//! The React context of the stage.

import { createContext, useContext } from "react";
import type { Stage } from "./stage";

/** Provided by the canvas. */
export const StageContext = createContext<Stage | null>(null);

/** The stage of the surrounding canvas. */
export function useStage(): Stage {
  const stage = useContext(StageContext);
  if (!stage) throw new Error("there is no canvas around");
  return stage;
}
