//! When a task starts: its dependencies, trigger rule and condition.

import { useId } from "react";
import { t } from "../../core/texts";
import type { Task } from "../../graph/document";
import { connect, disconnect } from "../../graph/edit";
import { basePointer, useBound, useForm } from "../context";
import { readText, shown, useDraft } from "../draft";
import { ChoiceField } from "../fields/choice";
import { Frame } from "../fields/frame";
import { Picker } from "../fields/picker";
import { TextField } from "../fields/text";
import { Fold } from "../fold";
import { Icon } from "../../editor/icon";
import { candidates } from "./needs";

const TRIGGERS: Readonly<Record<string, string>> = {
  all_success: /* text */ "form.trigger-all-success",
  all_done: /* text */ "form.trigger-all-done",
  all_failed: /* text */ "form.trigger-all-failed",
  one_failed: /* text */ "form.trigger-one-failed",
  one_success: /* text */ "form.trigger-one-success",
  none_failed: /* text */ "form.trigger-none-failed",
  none_failed_min_one_success: /* text */ "form.trigger-min-one-success",
};

const wordOf = (option: unknown) => {
  const key = TRIGGERS[String(option)];
  return key ? t(key) : String(option);
};

export function OrderPart({ task }: { task: Task }) {
  const needs = task.needs ?? [];
  const rest = [task["trigger"] === undefined ? "" : wordOf(task["trigger"]), shown(task["when"])];
  return (
    <Fold name="order" title={t("form.order")} keys={["needs", "trigger", "when"]} summary={[needs.join(", "), ...rest].filter(Boolean).join(" · ")} open>
      <Needs task={task} />
      {needs.length > 0 || task["trigger"] !== undefined ? <Trigger /> : null}
      <When />
    </Fold>
  );
}

function Needs({ task }: { task: Task }) {
  const id = useId();
  const form = useForm();
  const needs = task.needs ?? [];
  const change = (label: string, name: string, how: typeof connect) => { form.store.apply(label, (document) => how(document, name, task.name)); };
  const free = form.readOnly ? [] : candidates(form.document, task);
  return (
    <Frame id={id} pointer={`${basePointer(form)}/needs`} title={t("form.needs")} help={t("form.needs-help")}>
      {(ties) => (
        <>
          {needs.length > 0 ? (
            <ul className="tags form-chips">
              {needs.map((name) => (
                <li key={name} className="tag mono">
                  {name}
                  {form.readOnly ? null : <button type="button" aria-label={t("form.remove-need", { task: name })} title={t("form.remove-need", { task: name })} onClick={() => { change(t("form.need-removed", { task: name }), name, disconnect); }}><Icon name="close" /></button>}
                </li>
              ))}
            </ul>
          ) : null}
          {form.readOnly ? null : <Picker id={ties.id} options={free} placeholder={free.length > 0 ? t("form.add-need") : t("form.no-need")} describedBy={ties.describedBy} invalid={ties.invalid} pick={(name) => { change(t("form.need-added", { task: name }), name, connect); }} />}
        </>
      )}
    </Frame>
  );
}

function Trigger() {
  const id = useId();
  const title = t("form.trigger");
  const bound = useBound(["trigger"], title, "all_success");
  return (
    <Frame id={id} pointer={bound.pointer} title={title}>
      {(ties) => <ChoiceField path={["trigger"]} kind={{ type: "text", long: false }} bound={bound} ties={ties} title={title} placeholder="" usual="all_success" options={Object.keys(TRIGGERS).slice(1)} wordOf={wordOf} />}
    </Frame>
  );
}

function When() {
  const id = useId();
  const title = t("form.when");
  const bound = useBound(["when"], title);
  const draft = useDraft(bound, readText, shown);
  return (
    <Frame id={id} pointer={bound.pointer} title={title} help={t("form.when-help")}>
      {(ties) => <TextField id={ties.id} text={draft.text} onText={draft.change} onLeave={draft.leave} describedBy={ties.describedBy} invalid={ties.invalid} readOnly={bound.readOnly} placeholder="tasks.count.outputs.rows > 0" path={["when"]} bare />}
    </Frame>
  );
}
