//! Banners, one line each: unreadable text, a newer version, an unsaved merge, a draft, a comparison.

import type { ReactNode } from "react";
import { trying } from "../core/form";
import { language, t } from "../core/texts";
import { exact } from "../core/time";
import { useCell } from "./cell";
import { forget, takeUp } from "./drafts";
import { Icon } from "./icon";
import { unseen, type Newer } from "./peers";
import type { Merged } from "./reconcile";
import type { Session } from "./session";
import { readVersion, rebase, takeOver } from "./versions";

/** All visible banners. */
export function Banners({ session }: { session: Session }) {
  const state = useCell(session.cell, (present) => present);
  const newer = unseen(state);
  return (
    <div className="ed-banners" role="status">
      {state.broken ? <Broken session={session} /> : null}
      {newer ? <SavedByOther session={session} newer={newer} /> : null}
      {state.merged ? <Unsaved session={session} merged={state.merged} /> : null}
      {state.draft ? <Offered session={session} draft={state.draft} /> : null}
      {state.chosen ? <Compared session={session} version={state.chosen.version} /> : null}
    </div>
  );
}

interface BannerProps {
  kind: "error" | "warning" | "info";
  text: ReactNode;
  actions: [string, () => void][];
}

function Banner({ kind, text, actions }: BannerProps) {
  return (
    <div className="ed-banner" data-kind={kind}>
      <Icon name={kind} />
      <p>{text}</p>
      <div className="row">
        {actions.map(([word, act]) => (
          <button key={word} className="button small" type="button" onClick={act}>{word}</button>
        ))}
      </div>
    </div>
  );
}

/** The canvas shows an older state than the text. */
function Broken({ session }: { session: Session }) {
  const first = session.state.broken?.problems[0];
  const where = first?.line === undefined ? "" : `${t("pipeline.line", { line: first.line })}: `;
  const text = <>{t("editor.broken")} <span className="muted">{where}{first?.message}</span></>;
  return <Banner kind="error" text={text} actions={[[t("editor.broken-back"), () => { session.mend(); }]]} />;
}

/** Another user has saved. */
function SavedByOther({ session, newer }: { session: Session; newer: Newer }) {
  const { user, version } = newer;
  const message = newer.message === "" ? "" : ` “${newer.message}”`;
  const read = (then: (theirs: Awaited<ReturnType<typeof readVersion>>) => void) => () =>
    void trying(async () => { then(await readVersion(session, version)); });
  const show = read((theirs) => {
    session.store.set({ against: theirs.document });
    session.cell.set({ chosen: theirs });
  });
  const take = read((theirs) => { takeOver(session, theirs, t("editor.step-theirs", { user, version })); });
  const actions: [string, () => void][] = [[t("editor.newer-show"), show]];
  if (!session.readOnly && session.dirty) {
    actions.push(
      [t("editor.newer-keep"), read((theirs) => { rebase(session, theirs); })],
      [t("editor.newer-take"), take],
      [t("editor.newer-merge"), () => void trying(async () => { await (await import("./reconcile")).reconcile(session, version); })],
    );
  } else {
    actions.push([t("editor.newer-update"), take]);
  }
  return <Banner kind="warning" text={<>{t("editor.newer", { user, version })}{message}</>} actions={actions} />;
}

/** A merge is not saved by itself: the user reviews it first. */
function Unsaved({ session, merged: { user, version } }: { session: Session; merged: Merged }) {
  const save = () => void trying(async () => { await (await import("./save")).save(session); });
  return <Banner kind="warning" text={t("pipeline.merged", { user, version })} actions={[[t("editor.save"), save]]} />;
}

/** Unsaved changes of an earlier visit. */
function Offered({ session, draft }: { session: Session; draft: NonNullable<Session["state"]["draft"]> }) {
  const when = exact(new Date(draft.at), language());
  const drop = () => {
    session.cell.set({ draft: null });
    if (!session.dirty) forget(session);
  };
  return (
    <Banner
      kind="info"
      text={t("editor.draft", { when })}
      actions={[[t("editor.draft-drop"), drop], [t("editor.draft-take"), () => void trying(() => takeUp(session, draft))]]}
    />
  );
}

/** The canvas shows the differences from a version. */
function Compared({ session, version }: { session: Session; version: number }) {
  const end = () => {
    session.store.set({ against: null });
    session.cell.set({ chosen: null });
  };
  return <Banner kind="info" text={t("editor.comparing", { version })} actions={[[t("editor.comparing-end"), end]]} />;
}
