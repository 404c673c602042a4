//! The log of a task of the shown run, below the canvas.

import { useEffect, useRef, useState } from "react";
import { request } from "../api/client";
import type { Schema } from "../api/typed";
import { stateWord, t } from "../core/texts";
import { useCell } from "./cell";
import { Icon } from "./icon";
import type { Session } from "./session";
import { useEditor } from "./store";

type Instance = Schema<"InstanceView">;

export function LogDrawer({ session }: { session: Session }) {
  const run = useCell(session.cell, (state) => state.run?.id);
  const task = useCell(session.cell, (state) => state.log);
  if (task === null || run === undefined) return null;
  return <Drawer key={`${run} ${task}`} session={session} run={run} task={task} />;
}

function Drawer({ session, run, task }: { session: Session; run: string; task: string }) {
  const live = useEditor(session.store, (state) => state.live?.get(task));
  const instances = useInstances(run, task, live?.attempts ?? 0);
  const [chosen, setChosen] = useState(0);
  const attempts = instances[chosen]?.attempt ?? 0;
  const [attempt, setAttempt] = useState(0);
  const shown = attempt === 0 || attempt > attempts ? attempts : attempt;
  const close = () => {
    session.cell.set({ log: null });
    document.querySelector<HTMLElement>(".cv-stage")?.focus();
  };
  const box = useRef<HTMLElement>(null);
  // The opened log gets the focus: its shortcuts work at once, and Escape.
  useEffect(() => { box.current?.focus(); }, []);
  return (
    <section className="ed-drawer" ref={box} tabIndex={-1} aria-label={t("run.log-label", { task })} onKeyDown={(event) => { if (event.key === "Escape") close(); }}>
      <header className="ed-drawer-head">
        <h2 className="mono">{task}</h2>
        {live ? <span className="state" data-state={live.state}><Icon name={`state-${live.state}`} /><span>{stateWord(live.state)}</span></span> : null}
        {instances.length > 1 ? <Numbered label={t("run.instance")} count={instances.length} from={0} value={chosen} onChange={setChosen} /> : null}
        {attempts > 1 ? <Numbered label={t("run.attempt")} count={attempts} from={1} value={shown} onChange={setAttempt} /> : null}
        <span className="ed-space" />
        <a className="button small quiet" href={`/runs/${run}/tasks/${task}`}>{t("editor.log-page")}</a>
        <button className="button small quiet icon-only" type="button" aria-label={t("common.close")} title={t("common.close")} onClick={close}><Icon name="close" /></button>
      </header>
      {live?.state === "failed" && live.reason ? <p className="ed-cause" role="status"><Icon name="error" />{live.reason}</p> : null}
      {shown > 0 ? <Log key={`${chosen} ${shown}`} run={run} task={task} instance={chosen} attempt={shown} /> : <p className="muted ed-drawer-empty">{live?.reason ?? t("run.no-logs-text")}</p>}
    </section>
  );
}

function Numbered({ label, count, from, value, onChange }: { label: string; count: number; from: number; value: number; onChange: (value: number) => void }) {
  return (
    <label className="ed-drawer-choice">
      <span className="muted small">{label}</span>
      <select className="input" value={value} onChange={(event) => { onChange(Number(event.currentTarget.value)); }}>
        {Array.from({ length: count }, (_, at) => <option key={at} value={at + from}>{at + from}</option>)}
      </select>
    </label>
  );
}

/** The lines, rendered as on the run's page. */
function Log({ run, task, instance, attempt }: { run: string; task: string; instance: number; attempt: number }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let log: { close: () => void } | undefined;
    let gone = false;
    void Promise.all([import("../run/logs"), workersOf(run, task, instance, attempt)]).then(([{ openLog }, workers]) => {
      if (gone || !box.current) return;
      if (workers > 1) box.current.dataset["named"] = "";
      log = openLog(box.current, run);
    });
    return () => {
      gone = true;
      log?.close();
    };
  }, [run, task, instance, attempt]);
  return <div className="log-panel" ref={box} data-task={task} data-instance={instance} data-attempt={attempt} data-worker="" data-stream="" />;
}

/** How many workers write this log; one if unknown. */
async function workersOf(run: string, task: string, instance: number, attempt: number): Promise<number> {
  try {
    const query = new URLSearchParams({ task, instance: String(instance), attempt: String(attempt) });
    const { data } = await request("GET", `/runs/${run}/logs?${query.toString()}`);
    return new Set(data.streams.map((stream) => stream.worker)).size;
  } catch {
    return 1;
  }
}

/** The instances of a task; reloaded when there is another attempt. */
function useInstances(run: string, task: string, attempts: number): Instance[] {
  const [instances, setInstances] = useState<Instance[]>([]);
  useEffect(() => {
    if (attempts === 0) return undefined;
    const asked = new AbortController();
    request("GET", `/runs/${run}/tasks/${task}/instances?limit=200`, undefined, { signal: asked.signal }).then(
      ({ data }) => { setInstances(data.items); },
      // The next attempt reloads them.
      () => undefined,
    );
    return () => { asked.abort(); };
  }, [run, task, attempts]);
  return instances;
}
