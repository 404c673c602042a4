//! The floating toolbar of the selection: for several items, and on touch screens also for one.

import { t } from "../../core/texts";
import { useEditor } from "../../editor/store";
import { commandOf } from "../commands/all";
import { useStage } from "../context";
import { CommandButton } from "../controls";

const ONE: readonly [string, string][] = [["open", "edit"], ["connect", "arrow-right"]];
const ARRANGE: readonly [string, string][] = [
  ["align-left", "align-left"], ["align-centre", "align-centre"], ["align-right", "align-right"],
  ["align-top", "align-top"], ["align-middle", "align-middle"], ["align-bottom", "align-bottom"],
  ["distribute-horizontal", "distribute-horizontal"], ["distribute-vertical", "distribute-vertical"],
];
const ALWAYS: readonly [string, string][] = [["frame", "frame"], ["duplicate", "copy"], ["delete", "trash"]];

export function SelectionBar() {
  const stage = useStage();
  const count = useEditor(stage.store, (state) => state.selection.size);
  const selection = useEditor(stage.store, (state) => state.selection);
  const locked = useEditor(stage.store, (state) => state.readOnly);
  if (locked || count === 0) return null;
  const possible = ([id]: readonly [string, string]) => (commandOf(id).refusal?.(stage) ?? null) === null;
  const groups = [ONE, ARRANGE, ALWAYS].map((buttons) => buttons.filter(possible)).filter((buttons) => buttons.length > 0);
  return (
    <div className="cv-bar" role="toolbar" aria-label={t("canvas.selection-bar")} data-one={count === 1 || undefined} data-selection={selection.size}>
      <span className="cv-bar-count number">{t("canvas.selected", { n: count })}</span>
      {groups.map((buttons) => (
        <span className="cv-bar-group" key={buttons[0]?.[0]}>
          {buttons.map(([id, icon]) => <CommandButton key={id} command={commandOf(id)} icon={icon} />)}
        </span>
      ))}
    </div>
  );
}
