//! A part of the form that can be folded: its title, what of it is set, and how much in it is wrong.

import { useEffect, useId, useState, type ReactNode } from "react";
import { t } from "../core/texts";
import { useEditor } from "../editor/store";
import { basePointer, useForm } from "./context";
import { Icon } from "../editor/icon";
import { isWithin } from "./path";
import { problemsAt } from "./by-place";

interface FoldParts {
  /** What it is remembered by, while the page is open. */
  readonly name: string;
  readonly title: string;
  /** The fields of the task or pipeline that it holds. */
  readonly keys: readonly string[];
  /** What is set in it, in a few words; empty when nothing is. */
  readonly summary: string;
  readonly open?: boolean;
  readonly children: ReactNode;
}

// Somebody who opened the resources of one task wants to see those of the next.
const remembered = new Map<string, boolean>();

/** The part. A problem that somebody goes to opens it. */
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
    // Only what is asked for opens it, not the task that is selected then.
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
