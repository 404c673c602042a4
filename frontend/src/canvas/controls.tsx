//! The corner controls of the canvas: zoom, fit, the command palette.

import { lazy, Suspense, useSyncExternalStore } from "react";
import { t } from "../core/texts";
import { Icon } from "../editor/icon";
import { useEditor, type EditorState } from "../editor/store";
import { commandOf } from "./commands/all";
import type { Command } from "./commands/command";
import { useStage } from "./context";
import { keysOf } from "./shortcut";

const Minimap = lazy(async () => ({ default: (await import("./minimap")).Minimap }));
import { isMac } from "../core/system";

type Button = readonly [id: string, icon: string];

const VIEW: readonly Button[] = [["zoom-out", "minus"], ["zoom-in", "plus"], ["fit", "fit"]];
const HELP: Button = ["shortcuts", "keyboard"];

export function Controls() {
  const stage = useStage();
  const layout = useEditor(stage.store, layoutOf);
  const zoom = useSyncExternalStore(stage.ui.subscribe, () => stage.ui.state.zoom);
  return (
    <div className="cv-corner">
      <Suspense><Minimap /></Suspense>
      <div className="cv-controls" role="group" aria-label={t("canvas.controls")}>
        {[...VIEW, ...(layout === null ? [] : [[layout, "pipeline"] as const]), HELP].map(([id, icon]) => <CommandButton key={id} command={commandOf(id)} icon={icon} />)}
        <output className="cv-zoom number" aria-label={t("canvas.zoom")}>{Math.round(zoom * 100)}%</output>
      </div>
    </div>
  );
}

/** The command that lays out the drawing in its direction; null if there is nothing to lay out. */
function layoutOf({ document, readOnly }: EditorState): string | null {
  if (readOnly || document.tasks.length === 0) return null;
  return document.canvas?.direction === "down" ? "layout-down" : "layout-right";
}

/** A command's button: an icon, with the name and the shortcut as its title. */
export function CommandButton({ command, icon }: { command: Command; icon: string }) {
  const stage = useStage();
  const name = t(command.label);
  const key = command.keys?.[0];
  const title = key === undefined ? name : `${name} (${keysOf(key, isMac()).join("+")})`;
  return (
    <button
      className="button quiet icon-only small"
      type="button"
      aria-label={name}
      title={title}
      onClick={({ detail }) => {
        // After a mouse click the canvas gets the focus: Ctrl+Z should undo what the button did.
        if (detail > 0) stage.root?.focus();
        command.perform(stage);
      }}
    >
      <Icon name={icon} />
    </button>
  );
}
