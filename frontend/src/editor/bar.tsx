//! The toolbar: breadcrumbs, save state, undo and redo, problems, panels, run, save.

import { lazy, Suspense } from "react";
import { keysOf } from "../canvas/shortcut";
import { isMac } from "../core/system";
import { t } from "../core/texts";
import { useCell } from "./cell";
import { Icon } from "./icon";
import { Problems } from "./problems";
import { toggle } from "./right";
import type { Look, Session } from "./session";
import { useEditor } from "./store";

const Actions = lazy(async () => ({ default: (await import("./actions")).Actions }));

export function Bar({ session, back }: { session: Session; back: string }) {
  const readOnly = session.readOnly;
  return (
    <div className="ed-bar" role="toolbar" aria-label={t("editor.bar")}>
      <a className="button quiet icon-only" href={back} aria-label={t("editor.back")} title={t("editor.back")}>
        <Icon name="arrow-left" />
      </a>
      <Name session={session} />
      {readOnly ? <span className="tag">{t("editor.read-only")}</span> : <Steps session={session} />}
      <FindButton />
      <span className="ed-space" />
      <Problems session={session} />
      <Looks session={session} />
      <Panels session={session} />
      <Suspense fallback={<span className="ed-actions" />}><Actions session={session} /></Suspense>
      {readOnly ? null : <SaveButton session={session} />}
    </div>
  );
}

/** The project, the pipeline, and its save state. */
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
  // The state depends on the document, the stored version and the text.
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

/** Opens the finder: a click on any such button does. The navigation, which has the other one, is hidden here. */
function FindButton() {
  const label = t("common.search");
  return (
    <button className="button quiet icon-only" type="button" data-find aria-label={label} title={`${label} (${keysOf("Mod+k", isMac()).join("+")})`}>
      <Icon name="search" />
    </button>
  );
}

/** Undo and redo, with the names of their steps. */
function Steps({ session }: { session: Session }) {
  const { store } = session;
  useEditor(store, (state) => state.document);
  const undo = store.undoLabel;
  const redo = store.redoLabel;
  const undoTitle = undo === null ? t("editor.undo") : t("editor.undo-what", { what: undo });
  const redoTitle = redo === null ? t("editor.redo") : t("editor.redo-what", { what: redo });
  return (
    <div className="ed-steps" role="group" aria-label={t("editor.steps")}>
      <IconButton icon="undo" label={undoTitle} disabled={undo === null} onClick={() => { store.undo(); }} />
      <IconButton icon="redo" label={redoTitle} disabled={redo === null} onClick={() => { store.redo(); }} />
    </div>
  );
}

export const LOOKS: readonly [Look, string][] = [
  ["canvas", /* text */ "editor.look-canvas"],
  ["split", /* text */ "editor.look-split"],
  ["text", /* text */ "editor.look-text"],
];

/** The canvas, the text, or both. */
function Looks({ session }: { session: Session }) {
  const look = useCell(session.cell, (state) => state.look);
  return (
    <div className="segments ed-looks" role="group" aria-label={t("editor.look")}>
      {LOOKS.map(([one, word]) => (
        <button key={one} type="button" data-look={one} aria-pressed={look === one} onClick={() => { session.cell.set({ look: one }); }}>{t(word)}</button>
      ))}
    </div>
  );
}

function Panels({ session }: { session: Session }) {
  const panel = useCell(session.cell, (state) => state.panel);
  return (
    <div className="ed-panels" role="group" aria-label={t("editor.panels")}>
      <IconButton icon="edit" label={t("editor.form")} pressed={panel === "form"} onClick={() => { toggle(session, "form"); }} />
      <IconButton icon="clock" label={t("editor.versions")} pressed={panel === "versions"} onClick={() => { toggle(session, "versions"); }} />
    </div>
  );
}

function SaveButton({ session }: { session: Session }) {
  const saving = useCell(session.cell, (state) => state.saving);
  return (
    <button className="button primary" type="button" aria-busy={saving || undefined} title={t("editor.save-key")} onClick={() => void import("./save").then(({ save }) => save(session))}>
      <Icon name="check" />{t("editor.save")}
    </button>
  );
}

interface IconButtonProps {
  icon: string;
  label: string;
  disabled?: boolean;
  pressed?: boolean;
  onClick: () => void;
}

function IconButton({ icon, label, disabled = false, pressed, onClick }: IconButtonProps) {
  return (
    <button className="button quiet icon-only" type="button" disabled={disabled} aria-pressed={pressed} aria-label={label} title={label} onClick={onClick}>
      <Icon name={icon} />
    </button>
  );
}
