//! Commands that add tasks and notes, and commands for a single task.

import { t } from "../../core/texts";
import { addNote } from "../../graph/edit";
import { beginConnecting } from "../connect";
import { NOTE } from "../size";
import { onGrid } from "../snap";
import { toDrawing } from "../view";
import type { Stage } from "../stage";
import type { Command } from "./command";
import { first, locked, notOneTask, onlyTask } from "./refusals";

/** Adds a note in the centre of the view, in edit mode. */
function note(stage: Stage): void {
  const middle = toDrawing(stage.view, stage.size.width / 2, stage.size.height / 2);
  let id = "";
  stage.apply(t("canvas.step-note"), (document) => {
    const made = addNote(document, { text: "", at: [onGrid(middle.x - NOTE.width / 2), onGrid(middle.y - NOTE.height / 2)], size: [NOTE.width, NOTE.height] });
    id = made.id;
    return made.document;
  });
  stage.store.select([`note:${id}`]);
  stage.ui.set({ editing: `note:${id}` });
}

export const ADD: readonly Command[] = [
  {
    id: "add",
    group: "add",
    label: /* text */ "canvas.add",
    keys: ["/", "n"],
    refusal: locked,
    perform: (stage) => { stage.ui.set({ open: { kind: "add", at: null, after: onlyTask(stage) } }); },
  },
  { id: "note", group: "add", label: /* text */ "canvas.note", keys: ["Shift+N"], refusal: locked, perform: note },
  {
    id: "connect",
    group: "add",
    label: /* text */ "canvas.connect",
    keys: ["c"],
    refusal: first(locked, notOneTask),
    perform: (stage) => {
      beginConnecting(stage, onlyTask(stage) ?? "", "out");
      stage.ui.announce(t("canvas.said-connecting", { from: onlyTask(stage) ?? "" }));
    },
  },
  {
    id: "open",
    group: "edit",
    label: /* text */ "canvas.open",
    keys: ["Enter"],
    refusal: (stage) => (stage.store.state.selection.size === 1 ? null : t("canvas.refused-one")),
    perform: (stage) => {
      const task = onlyTask(stage);
      const [only] = stage.store.state.selection;
      if (task !== null) stage.doors.onOpen(task);
      else if (only !== undefined && !only.startsWith("edge:") && !stage.readOnly) stage.ui.set({ editing: only });
    },
  },
  {
    id: "logs",
    group: "edit",
    label: /* text */ "canvas.logs",
    keys: ["l"],
    refusal: first(notOneTask, (stage) => (stage.doors.onLogs && stage.marks.live?.has(onlyTask(stage) ?? "") ? null : t("canvas.refused-logs"))),
    perform: (stage) => { stage.doors.onLogs?.(onlyTask(stage) ?? ""); },
  },
];
