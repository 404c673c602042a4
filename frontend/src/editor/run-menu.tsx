//! The run button, which parts of the pipeline to run, and the run shown on the canvas.

import { useState } from "react";
import { stateWord, t } from "../core/texts";
import { language } from "../core/texts";
import { exact } from "../core/time";
import { trying } from "../core/form";
import { tasksIn } from "../graph/document";
import { useCell } from "./cell";
import { Icon } from "./icon";
import { hasEnded, type Run } from "./live";
import { cancel, lastRuns, show } from "./run";
import type { Session } from "./session";
import type { Part } from "./start-run";
import { useEditor } from "./store";

export function RunMenu({ session }: { session: Session }) {
  const [runs, setRuns] = useState<Run[]>([]);
  const shown = useCell(session.cell, (state) => state.run);
  const read = () => {
    void trying(async () => { setRuns(await lastRuns(session)); });
  };
  const goes = shown !== null && !hasEnded(shown);
  return (
    <div className="ed-split">
      {session.readOnly ? null : <RunButton session={session} goes={goes} />}
      <details className="menu end" data-menu onToggle={(event) => { if (event.currentTarget.open) read(); }}>
        <summary className="button icon-only" aria-label={t("editor.run-more")} title={t("editor.run-more")}><Icon name="chevron-down" /></summary>
        <div className="menu-panel ed-run-panel">
          {session.readOnly ? null : <Parts session={session} />}
          <Shown session={session} runs={runs} shown={shown} />
        </div>
      </details>
    </div>
  );
}

function RunButton({ session, goes }: { session: Session; goes: boolean }) {
  if (goes) {
    return <button className="button" type="button" onClick={() => void cancel(session)}><Icon name="stop" />{t("editor.cancel-run")}</button>;
  }
  return <button className="button" type="button" onClick={() => { start(session, null); }}><Icon name="run" />{t("pipeline.run")}</button>;
}

function Parts({ session }: { session: Session }) {
  const selection = useEditor(session.store, (state) => state.selection);
  const [task, ...others] = tasksIn(selection);
  const only = others.length === 0 ? task : undefined;
  const choices: [string, Part][] = [
    [t("editor.run-all"), null],
    ...(only === undefined ? [] : [[t("editor.run-from", { task: only }), { from: only }], [t("editor.run-only", { task: only }), { only }]] satisfies [string, Part][]),
  ];
  return (
    <>
      {choices.map(([word, part]) => (
        <button key={word} className="menu-item" type="button" onClick={(event) => { closeMenu(event.currentTarget); start(session, part); }}>
          <Icon name="run" />{word}
        </button>
      ))}
      {only === undefined ? <p className="menu-title">{t("editor.run-part-hint")}</p> : null}
      <div className="menu-split" />
    </>
  );
}

function Shown({ session, runs, shown }: { session: Session; runs: Run[]; shown: Run | null }) {
  const choose = (run: string | null) => (event: { currentTarget: Element }) => {
    closeMenu(event.currentTarget);
    show(session, run);
  };
  return (
    <>
      <p className="menu-title">{t("editor.shown-run")}</p>
      <button className="menu-item" type="button" aria-pressed={shown === null} onClick={choose(null)}>{t("editor.shown-none")}</button>
      {runs.map((run) => (
        <button key={run.id} className="menu-item" type="button" aria-pressed={run.id === shown?.id} onClick={choose(run.id)}>
          <span className="state quiet" data-state={run.state} title={stateWord(run.state)}>
            <Icon name={`state-${run.state}`} /><span className="visually-hidden">{stateWord(run.state)}</span>
          </span>
          <span>{exact(new Date(run.created_at), language())} · {run.user}</span>
        </button>
      ))}
      {runs.length === 0 ? <p className="menu-title">{t("editor.no-runs")}</p> : null}
      {shown === null ? null : <a className="menu-item" href={`/runs/${shown.id}`}><Icon name="external" />{t("editor.run-page")}</a>}
    </>
  );
}

let asking = false;

/** Asks for what the run needs, and starts it. A double click asks once. */
function start(session: Session, part: Part): void {
  if (asking) return;
  asking = true;
  void trying(async () => { await (await import("./start-run")).start(session, part); }).finally(() => { asking = false; });
}

/** Closes the menu that contains an element. */
export function closeMenu(inside: Element): void {
  const menu = inside.closest("details");
  if (menu) menu.open = false;
}
