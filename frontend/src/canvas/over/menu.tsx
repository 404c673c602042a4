//! The context menu of the selection, by right click or Shift+F10.

import { useEffect, useRef, type KeyboardEvent } from "react";
import { t } from "../../core/texts";
import { commandOf } from "../commands/all";
import { useStage } from "../context";
import { keysOf } from "../shortcut";
import { isMac } from "../../core/system";
import { Modal } from "./modal";

const SELECTED = [["open", "logs", "connect"], ["cut", "copy", "paste", "duplicate", "delete"], ["frame", "unframe"], ["align-left", "align-top", "fit-selection"]];
const NOTHING = [["add", "note", "paste"], ["select-all", "fit"], ["layout-right", "layout-down"], ["commands", "shortcuts"]];

export function Menu({ at }: { at: { x: number; y: number } }) {
  const stage = useStage();
  const list = useRef<HTMLDivElement>(null);
  const box = stage.root?.getBoundingClientRect();
  useEffect(() => { list.current?.querySelector("button")?.focus(); }, []);
  const groups = (stage.store.state.selection.size > 0 ? SELECTED : NOTHING)
    .map((ids) => ids.map(commandOf).filter((command) => (command.refusal?.(stage) ?? null) === null))
    .filter((commands) => commands.length > 0);
  const close = () => { stage.ui.set({ open: null }); };
  const key = (event: KeyboardEvent) => {
    if (event.key === "Tab") close();
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    const items = [...(list.current?.querySelectorAll("button") ?? [])];
    const now = items.findIndex((item) => item === document.activeElement);
    items[(now + (event.key === "ArrowDown" ? 1 : -1) + items.length) % items.length]?.focus();
  };
  return (
    <Modal label={t("canvas.menu")} look="cv-menu" at={{ x: (box?.left ?? 0) + at.x, y: (box?.top ?? 0) + at.y }} onClose={close}>
      <div role="menu" aria-label={t("canvas.menu")} ref={list} onKeyDown={key}>
        {groups.map((commands) => (
          <div className="cv-menu-group" role="group" key={commands[0]?.id}>
            {commands.map((command) => (
              <button
                className={command.id === "delete" ? "menu-item danger" : "menu-item"}
                type="button"
                role="menuitem"
                tabIndex={-1}
                key={command.id}
                onClick={() => {
                  close();
                  command.perform(stage);
                }}
              >
                <span>{t(command.label)}</span>
                {command.keys?.[0] === undefined ? null : <span className="keys">{keysOf(command.keys[0], isMac()).map((one) => <kbd key={one}>{one}</kbd>)}</span>}
              </button>
            ))}
          </div>
        ))}
      </div>
    </Modal>
  );
}
