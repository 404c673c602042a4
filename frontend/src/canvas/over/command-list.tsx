//! All commands in one searchable list. Disabled commands show why.

import { t } from "../../core/texts";
import { COMMANDS, commandOf } from "../commands/all";
import { useStage } from "../context";
import { keysOf } from "../shortcut";
import { isMac } from "../system";
import { groupTitle } from "./group-title";
import { Modal } from "./modal";
import { Picker, type Choice } from "./picker";

export function CommandList() {
  const stage = useStage();
  const choices = COMMANDS.filter(({ id }) => id !== "commands").map((command): Choice => ({
    id: command.id,
    label: t(command.label),
    detail: groupTitle(command.group),
    keys: command.keys?.[0] === undefined ? undefined : keysOf(command.keys[0], isMac()),
    refusal: command.refusal?.(stage) ?? null,
  }));
  const close = () => { stage.ui.set({ open: null }); };
  return (
    <Modal label={t("canvas.commands")} look="cv-commands" onClose={close}>
      <Picker
        label={t("canvas.search-commands")}
        choices={choices}
        held={stage.ui.held}
        onTake={({ id }) => {
          close();
          commandOf(id).perform(stage);
        }}
      />
    </Modal>
  );
}
