//! The context of all form parts: the store, the selection and the project's data; and the binding of fields.

import { createContext, useContext } from "react";
import type { Problem } from "../api/problem";
import { t } from "../core/texts";
import type { EditorStore } from "../editor/store";
import type { Json, PipelineDocument, Task } from "../graph/document";
import type { Place } from "../editor/load";
import type { TemplateInfo, Templates } from "../editor/templates";
import type { Knowledge } from "./knowledge";
import type { Path } from "../graph/edit";
import { pointer } from "./path";
import { MIXED, orDefault, readAt, writeAt } from "./write";

/** The state of the form. `tasks` are the selected ones; if empty, it shows the pipeline. */
export interface FormState {
  readonly store: EditorStore;
  readonly document: PipelineDocument;
  readonly tasks: readonly Task[];
  /** The newest versions. */
  readonly templates: Templates;
  /** The first task's template in its version; undefined also while it is `loading`. */
  readonly template: TemplateInfo | undefined;
  readonly loading: boolean;
  readonly knowledge: Knowledge;
  readonly places: readonly Place[];
  readonly problems: readonly Problem[];
  readonly readOnly: boolean;
  /** Completes the change of a field, in the same undo step. */
  readonly complete?: (before: PipelineDocument, after: PipelineDocument) => PipelineDocument;
}

export const FormContext = createContext<FormState | null>(null);

/** The state of the surrounding form. */
export function useForm(): FormState {
  const form = useContext(FormContext);
  if (!form) throw new Error("a field stands outside of a form");
  return form;
}

/** A field's path in the document, and its value. */
export interface Bound {
  readonly value: Json | undefined;
  /** The selected tasks have different values. */
  readonly mixed: boolean;
  /** The JSON pointer of this field's problems; for several tasks, of the first. */
  readonly pointer: string;
  readonly readOnly: boolean;
  readonly set: (value: Json | undefined) => void;
  /** Closes the undo step: the next change starts a new one. */
  readonly seal: () => void;
}

/** Binds a field. `label` names it in undo; a value equal to `usual` is not written. */
export function useBound(path: Path, label: string, usual?: Json): Bound {
  const form = useForm();
  const names = form.tasks.map((task) => task.name);
  const value = readAt(form.document, form.tasks, path);
  return {
    value: value === MIXED ? undefined : value,
    mixed: value === MIXED,
    pointer: basePointer(form) + pointer(path),
    readOnly: form.readOnly,
    set: (to) => {
      const merge = `form:${names.join(",")}:${pointer(path)}`;
      form.store.apply(t("form.changed", { field: label }), (document) => {
        const written = writeAt(document, names, path, orDefault(to, usual));
        return form.complete?.(document, written) ?? written;
      }, { merge });
    },
    seal: () => { form.store.seal(); },
  };
}

/** The selected task's JSON pointer, the prefix of its problems' paths; empty for the pipeline. */
export function basePointer({ document, tasks }: FormState): string {
  const [first] = tasks;
  return first ? `/tasks/${document.tasks.findIndex((task) => task.name === first.name)}` : "";
}
