//! Switching between alternative arguments. Switching back restores the former values.

import { useRef } from "react";
import { t } from "../../core/texts";
import { setPath } from "../../graph/edit";
import type { JsonObject } from "../../graph/document";
import { useForm } from "../context";
import { isMapping } from "../path";
import { foreign, type Choice } from "../schema/choose";

/** A function that switches between two alternatives, as one undo step. */
export function useWays(choice: Choice): (from: number, to: number) => void {
  const { store, tasks } = useForm();
  const kept = useRef(new Map<string, JsonObject>());
  return (from, to) => {
    const leaving = new Set(foreign(choice, to));
    store.apply(t("form.way-changed"), (document) => tasks.reduce((now, task) => {
      const given = isMapping(task.arguments) ? task.arguments : {};
      kept.current.set(`${task.name}/${from}`, pick(given, leaving, true));
      const next = { ...pick(given, leaving, false), ...kept.current.get(`${task.name}/${to}`) };
      return setPath(now, task.name, ["arguments"], Object.keys(next).length > 0 ? next : undefined);
    }, document));
  };
}

function pick(given: JsonObject, names: ReadonlySet<string>, wanted: boolean): JsonObject {
  return Object.fromEntries(Object.entries(given).filter(([name]) => names.has(name) === wanted));
}
