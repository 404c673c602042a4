//! The side panel: the form of the selected task, of the common fields of several selected tasks, or of the
//! pipeline.

import "../styles/form.css";
import { useRef } from "react";
import { t } from "../core/texts";
import { useEditor, type EditorStore } from "../editor/store";
import { taskOf, tasksIn } from "../graph/document";
import { FormContext } from "./context";
import { useInstance } from "./instance";
import { useJumps } from "./jump";
import type { Place } from "../editor/load";
import type { Templates } from "../editor/templates";
import type { Knowledge } from "./knowledge";
import { ManyForm } from "./task/many";
import { PipelineForm } from "./pipeline/pipeline";
import { TaskForm } from "./task/task";
import { useTemplate } from "./versions";

interface FormParts {
  readonly store: EditorStore;
  readonly templates: Templates;
  readonly knowledge: Knowledge;
  readonly places: readonly Place[];
}

/**
 * The form. Each selection has its own instance, so that unfinished input does not move from one task to the
 * next.
 */
export function Form({ store, templates, knowledge, places }: FormParts) {
  const root = useRef<HTMLDivElement>(null);
  const document = useEditor(store, (state) => state.document);
  const selection = useEditor(store, (state) => state.selection);
  const problems = useEditor(store, (state) => state.problems);
  const readOnly = useEditor(store, (state) => state.readOnly);
  useJumps(store, root);
  const tasks = tasksIn(selection).flatMap((name) => taskOf(document, name) ?? []);
  const [only] = tasks;
  const instance = useInstance(document, tasks.length === 1 ? only?.name : undefined);
  const { template, loading } = useTemplate(templates, only);
  return (
    <FormContext value={{ store, document, tasks, templates, template, loading, knowledge, places, problems, readOnly }}>
      <div className="task-form" ref={root} role="region" aria-label={t("form.title")}>
        {!only ? <PipelineForm key="pipeline" /> : tasks.length === 1 ? <TaskForm key={instance} task={only} /> : <ManyForm key="many" />}
      </div>
    </FormContext>
  );
}
