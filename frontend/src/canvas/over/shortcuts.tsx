//! The sheet of all keyboard shortcuts.

import { t } from "../../core/texts";
import { COMMANDS } from "../commands/all";
import type { Group } from "../commands/command";
import { useStage } from "../context";
import { keysOf } from "../shortcut";
import { isMac } from "../../core/system";
import { Icon } from "../../editor/icon";
import { groupTitle } from "./group-title";
import { Modal } from "./modal";

const GROUPS: readonly Group[] = ["add", "edit", "select", "arrange", "view", "help"];

type Row = [label: string, ...keys: string[][]];

/** Shortcuts that are no commands: navigating, moving, the mouse. */
function moves(): Row[] {
  const mod = isMac() ? "⌘" : "Ctrl";
  return [
    [t("canvas.walk"), ["←"], ["→"], ["↑"], ["↓"]],
    [t("canvas.walk-all"), ["Tab"]],
    [t("canvas.nudge"), [mod, "↑"]],
    [t("canvas.nudge-far"), [mod, "Shift", "↑"]],
    [t("canvas.menu-key"), ["Shift", "F10"]],
    [t("canvas.leave"), ["Esc"]],
    [t("canvas.drag-view"), ["Space", t("canvas.key-drag")]],
    [t("canvas.drag-box"), ["Shift", t("canvas.key-drag")]],
    [t("canvas.drag-free"), ["Alt", t("canvas.key-drag")]],
  ];
}

export function Shortcuts() {
  const stage = useStage();
  const close = () => { stage.ui.set({ open: null }); };
  const groups = GROUPS.map((group): [string, Row[]] => [
    groupTitle(group),
    COMMANDS.filter((command) => command.group === group && command.keys).map(({ label, keys = [] }): Row => [t(label), ...keys.slice(0, 2).map((key) => keysOf(key, isMac()))]),
  ]);
  groups.splice(3, 0, [t("canvas.group-move"), moves()]);
  return (
    <Modal label={t("canvas.shortcuts")} look="cv-sheet" onClose={close}>
      <div className="cv-sheet-head">
        <h2>{t("canvas.shortcuts")}</h2>
        <button className="button quiet icon-only small" type="button" aria-label={t("common.close")} onClick={close}><Icon name="close" /></button>
      </div>
      <div className="cv-sheet-groups">
        {groups.filter(([, rows]) => rows.length > 0).map(([title, rows]) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl>
              {rows.map(([label, ...ways]) => (
                <div key={label}>
                  <dt>{label}</dt>
                  <dd>{ways.map((keys) => <span className="keys" key={keys.join()}>{keys.map((key) => <kbd key={key}>{key}</kbd>)}</span>)}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Modal>
  );
}
