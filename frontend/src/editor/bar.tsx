//! The bar above: where one is, whether it is saved, undo and redo, problems, saving.

import { t } from "../core/texts";
import { useCell } from "./cell";
import { Icon } from "./icon";
import { Problems } from "./problems";
import { save } from "./save";
import type { Session } from "./session";
import { useEditor } from "./store";

/** The bar. */
export function Bar({ session, back }: { session: Session; back: string }) {
  const readOnly = session.readOnly;
  return (
    <div className="ed-bar">
      <a className="button quiet icon-only" href={back} aria-label={t("editor.back")} title={t("editor.back")}>
        <Icon name="arrow-left" />
      </a>
      <Name session={session} />
      {readOnly ? <span className="tag">{t("editor.read-only")}</span> : <Steps session={session} />}
      <span className="ed-space" />
      <Problems session={session} />
      {readOnly ? null : <SaveButton session={session} />}
    </div>
  );
}

/** The project, the pipeline, and what of it is stored. */
function Name({ session }: { session: Session }) {
  const name = useEditor(session.store, (state) => state.document.name);
  const stored = useCell(session.cell, (state) => state.stored);
  return (
    <div className="ed-name">
      <span className="ed-crumb">{session.project}</span>
      <h1>{stored?.pipeline ?? (name || t("pipeline.new"))}</h1>
      <Saved session={session} />
    </div>
  );
}

function Saved({ session }: { session: Session }) {
  // The document, the base and the text decide together.
  useEditor(session.store, (state) => state.document);
  const { stored, saving } = useCell(session.cell, (state) => state);
  const version = stored ? t("editor.version", { version: stored.version }) : t("editor.not-stored");
  const word = saving ? t("editor.saving") : session.dirty ? t("editor.unsaved") : stored ? t("editor.all-saved") : "";
  return (
    <p className="ed-saved" role="status" data-dirty={session.dirty || undefined}>
      {version}{word ? ` · ${word}` : ""}
    </p>
  );
}

/** Undo and redo, which say what they take back. */
function Steps({ session }: { session: Session }) {
  const { store } = session;
  useEditor(store, (state) => state.document);
  const undo = store.undoLabel;
  const redo = store.redoLabel;
  const undoTitle = undo === null ? t("editor.undo") : t("editor.undo-what", { what: undo });
  const redoTitle = redo === null ? t("editor.redo") : t("editor.redo-what", { what: redo });
  return (
    <div className="row" role="group" aria-label={t("editor.steps")}>
      <button className="button quiet icon-only" type="button" disabled={undo === null} aria-label={undoTitle} title={undoTitle} onClick={() => { store.undo(); }}>
        <Icon name="undo" />
      </button>
      <button className="button quiet icon-only" type="button" disabled={redo === null} aria-label={redoTitle} title={redoTitle} onClick={() => { store.redo(); }}>
        <Icon name="redo" />
      </button>
    </div>
  );
}

function SaveButton({ session }: { session: Session }) {
  const saving = useCell(session.cell, (state) => state.saving);
  return (
    <button className="button primary" type="button" aria-busy={saving || undefined} title={t("editor.save-key")} onClick={() => void save(session)}>
      <Icon name="check" />{t("editor.save")}
    </button>
  );
}
