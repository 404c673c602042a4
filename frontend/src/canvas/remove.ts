//! Taking away what is selected.

import { t } from "../core/texts";
import { removeItems } from "../graph/edit";
import type { Stage } from "./stage";

/** One step; what is gone is said. */
export function removeSelection(stage: Stage): void {
  const { selection } = stage.store.state;
  if (selection.size === 0) return;
  stage.apply(t("canvas.step-delete"), (document) => removeItems(document, selection));
  stage.say(t("canvas.said-deleted", { n: selection.size }));
}
