//! Overlays of the drawing, one at a time.

import { useEffect } from "react";
import { useStage } from "../context";
import type { Open } from "../ui";
import { Menu } from "./menu";
import { QuickAdd } from "./quick-add";
import { Shortcuts } from "./shortcuts";

export { SelectionBar } from "./selection-bar";

export function Opened({ open }: { open: Open }) {
  const { ui } = useStage();
  // Keys that no field has consumed are not for the next overlay.
  useEffect(() => { ui.held = []; }, [ui, open]);
  switch (open.kind) {
    case "add":
      return <QuickAdd open={open} />;
    case "shortcuts":
      return <Shortcuts />;
    case "menu":
      return <Menu at={open.at} />;
  }
}
