//! Fields of a task that no other section knows, so that every field is editable.

import { t } from "../../core/texts";
import type { Task } from "../../graph/document";
import { Field } from "../fields/field";
import { Fold } from "../fold";

const KNOWN = new Set([
  "name", "template", "description", "arguments", "needs", "trigger", "when", "for_each", "search", "resources", "role_resources", "setup", "env", "secrets",
  "volumes", "retry", "timeout", "priority", "preemptible", "limits", "elastic", "outputs", "cache", "sizing", "placement",
]);

/** The section; nothing if there are no such fields. */
export function OthersPart({ task }: { task: Task }) {
  const names = Object.keys(task).filter((name) => !KNOWN.has(name));
  if (names.length === 0) return null;
  return (
    <Fold name="others" title={t("form.others")} keys={names} summary={names.join(", ")} open>
      {names.map((name) => <Field key={name} path={[name]} kind={{ type: "yaml" }} title={name} plain />)}
    </Fold>
  );
}
