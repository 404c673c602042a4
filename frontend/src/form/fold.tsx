//! A collapsible section of the form: its title, a summary of its values, and its number of problems.

import { useEffect, useId, useState, type ReactNode } from "react";
import { t } from "../core/texts";
import { useEditor } from "../editor/store";
import { basePointer, useForm } from "./context";
import { Icon } from "../editor/icon";
import { isWithin } from "./path";
import { problemsAt } from "./by-place";

interface FoldParts {
  /** The key under which its state is kept while the page is open. */
  readonly name: string;
  readonly title: string;
  /** The fields of the task or pipeline in it. */
  readonly keys: readonly string[];
  /** A short summary of the set values; empty if there are none. */
  readonly summary: ReactNode;
  readonly open?: boolean;
  readonly children: ReactNode;
}

// Sections stay open when another task is selected.
const remembered = new Map<string, boolean>();

/** The section. Navigating to a problem in it opens it. */
export function Fold({ name, title, keys, summary, open = false, children }: FoldParts) {
  const id = useId();
  const form = useForm();
  const wanted = useEditor(form.store, (state) => state.wanted);
  const [isOpen, setOpen] = useState(remembered.get(name) ?? open);
  const base = basePointer(form);
  const pointers = keys.map((key) => `${base}/${key}`);
  const found = pointers.flatMap((pointer) => problemsAt(form.problems, pointer, true));
  const count = found.length;
  const worst = found.some(({ severity }) => severity === "error") ? "danger" : "warning";
  useEffect(() => {
    if (wanted && pointers.some((pointer) => isWithin(wanted.pointer, pointer))) setOpen(true);
    // Only navigation opens it, not a change of the selected task.
  }, [wanted]);
  const toggle = () => {
    remembered.set(name, !isOpen);
    setOpen(!isOpen);
  };
  return (
    <section className="fold" data-fold={name}>
      <h3 className="fold-head">
        <button type="button" aria-expanded={isOpen} aria-controls={id} onClick={toggle}>
          <Icon name="chevron-right" />
          <span className="fold-title">{title}</span>
          {count > 0 ? <span className={`tag ${worst}`} aria-label={t("form.problems-in", { n: count })}>! {count}</span> : null}
          {isOpen || !summary ? null : <span className="fold-summary clip">{summary}</span>}
        </button>
      </h3>
      <div id={id} className="fold-body" hidden={!isOpen}>{isOpen ? children : null}</div>
    </section>
  );
}
