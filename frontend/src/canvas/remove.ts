//! Deletes the selection.

import { t } from "../core/texts";
import { removeItems } from "../graph/edit";
import type { Stage } from "./stage";

/** As one undo step, which is announced. */
export function removeSelection(stage: Stage): void {
  const { selection } = stage.store.state;
  if (selection.size === 0) return;
  stage.apply(t("canvas.step-delete"), (document) => removeItems(document, selection));
  stage.ui.announce(t("canvas.said-deleted", { n: selection.size }));
}
