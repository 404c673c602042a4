//! The default of a list or mapping: shown until the user overrides it.

import { t } from "../../core/texts";
import type { Json } from "../../graph/document";
import type { Bound } from "../context";
import { shown } from "../draft";
import type { Ties } from "./frame";

/** Whether a default has content: an empty list has none. */
export function isFilled(usual: Json | undefined): usual is Json {
  return usual !== undefined && usual !== null && (typeof usual !== "object" || Object.keys(usual).length > 0);
}

/** The default, and a button that copies it into the document. */
export function UsualValue({ bound, ties, title, usual }: { bound: Bound; ties: Ties; title: string; usual: Json }) {
  const parts = Array.isArray(usual) ? usual.map((one: Json) => shown(one)) : [shown(usual)];
  const own = () => {
    bound.seal();
    bound.set(usual);
    bound.seal();
  };
  return (
    <div className="form-usual">
      <span className="tags">{parts.map((part, index) => <span key={index} className="tag mono">{part}</span>)}</span>
      {bound.readOnly ? null : <button type="button" className="button small" id={ties.id} aria-describedby={ties.describedBy} onClick={own}>{t("form.change-default")}<span className="visually-hidden">: {title}</span></button>}
    </div>
  );
}
