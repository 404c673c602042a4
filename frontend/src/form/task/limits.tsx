//! The concurrency limits that a task's jobs use while they run.

import { useId } from "react";
import { t } from "../../core/texts";
import { useBound, useForm } from "../context";
import { shown } from "../draft";
import { Frame } from "../fields/frame";
import { Picker } from "../fields/picker";
import { Icon } from "../../editor/icon";

/** The names, and a picker for the existing limits. */
export function LimitsField() {
  const id = useId();
  const { knowledge } = useForm();
  const title = t("form.limits");
  const bound = useBound(["limits"], title);
  const names = Array.isArray(bound.value) ? bound.value.map(shown) : [];
  const free = knowledge.limits.filter((name) => !names.includes(name));
  const step = (next: readonly string[]) => {
    bound.seal();
    bound.set(next.length > 0 ? [...next] : undefined);
    bound.seal();
  };
  return (
    <Frame id={id} pointer={bound.pointer} title={title} help={t("form.limits-help")}>
      {(ties) => (
        <>
          {names.length > 0 ? (
            <ul className="tags form-chips">
              {names.map((name, index) => (
                <li key={index} className="tag mono">
                  {name}
                  {bound.readOnly ? null : <button type="button" aria-label={t("form.remove-name", { name })} title={t("form.remove-name", { name })} onClick={() => { step(names.toSpliced(index, 1)); }}><Icon name="close" /></button>}
                </li>
              ))}
            </ul>
          ) : null}
          {bound.readOnly ? null : <Picker id={ties.id} options={free} free placeholder={t("form.add-limit")} describedBy={ties.describedBy} invalid={ties.invalid} pick={(name) => { if (!names.includes(name)) step([...names, name]); }} />}
        </>
      )}
    </Frame>
  );
}
