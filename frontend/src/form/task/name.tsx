//! A task's name. It is applied on blur or Enter: all references to the task follow at once.

import { useId, useState } from "react";
import { t } from "../../core/texts";
import type { Task } from "../../graph/document";
import { renameTask } from "../../graph/edit";
import { basePointer, useForm } from "../context";
import { Frame } from "../fields/frame";
import { isLabel } from "../names";
import { NextProblem } from "./next-problem";

export function NameField({ task }: { task: Task }) {
  const id = useId();
  const form = useForm();
  const [draft, setDraft] = useState<string | null>(null);
  const text = draft ?? task.name;
  const isTaken = text !== task.name && form.document.tasks.some((other) => other.name === text);
  const wrong = text === task.name ? null : isTaken ? t("form.name-taken", { name: text }) : isLabel(text) ? null : t("form.not-a-label");
  const pointer = `${basePointer(form)}/name`;
  const finish = () => {
    if (wrong !== null || text === task.name) return;
    setDraft(null);
    form.store.apply(t("form.renamed", { from: task.name, to: text }), (document) => renameTask(document, task.name, text), { select: [`task:${text}`] });
  };
  return (
    <Frame id={id} pointer={pointer} title={t("form.task-name")} wrong={wrong} actions={<NextProblem />}>
      {(ties) => (
        <input
          className="input mono" id={ties.id} value={text} readOnly={form.readOnly} autoComplete="off" spellCheck={false} maxLength={63}
          aria-describedby={ties.describedBy} aria-invalid={ties.invalid ? true : undefined}
          onChange={(event) => { setDraft(event.target.value); }}
          onBlur={finish}
          onKeyDown={(event) => {
            if (event.key === "Enter") finish();
            if (event.key === "Escape" && draft !== null) {
              event.stopPropagation();
              setDraft(null);
            }
          }}
        />
      )}
    </Frame>
  );
}
