//! A task's node at close zoom: its name, template, resources, state and problems.

import { memo, type CSSProperties } from "react";
import { clip } from "../../components/dag/clip";
import { duration } from "../../core/time";
import { stateIcon } from "../../core/state";
import { stateWord, t } from "../../core/texts";
import { Icon } from "../../editor/icon";
import { useEditor, type LiveTask } from "../../editor/store";
import { templateOfTask } from "../../editor/templates";
import { useStage } from "../context";
import { groupColour, groupIcon } from "../groups";
import type { Difference } from "../marks";
import { outlookMark, type OutlookMark } from "../outlook";
import { instancesOf, resourcesOf, spoken, templateLabel } from "../summary";
import { useUi } from "../ui";

const MARKS: Readonly<Record<Difference, string>> = {
  added: /* text */ "canvas.mark-added",
  changed: /* text */ "canvas.mark-changed",
};

// The width for text, in pixels. The text is clipped here and not by the style sheet: one clip per node would
// cost the browser more per move than the rest of the node.
const ROOM = 156;

/** The node of the task in `data`. */
export const TaskNode = memo(function TaskNode({ data: { name } }: { data: { name: string } }) {
  const stage = useStage();
  const { store, ui, marks } = stage;
  const task = useEditor(store, () => stage.task(name));
  const selected = useEditor(store, (state) => state.selection.has(`task:${name}`));
  const live = useEditor(store, (state) => state.live?.get(name));
  const problems = useEditor(store, () => marks.problems.get(name));
  const outlook = outlookMark(useEditor(store, (state) => (state.live || state.against ? undefined : state.outlook?.get(name))));
  const difference = useEditor(store, () => marks.differences.get(name));
  const faint = useUi(ui, (state) => state.connecting?.forbidden.has(name) ?? false);
  const templates = useUi(ui, (state) => state.templates);
  const aimed = useUi(ui, (state) => state.connecting?.to === name);
  if (!task) return null;
  const template = templateOfTask(templates, task);
  const instances = instancesOf(task);
  // The failure reason matters more now than the template, which the icon and the form show, too.
  const cause = live?.state === "failed" ? live.reason : undefined;
  const colour = { "--group": `var(--${groupColour(template)})` } as CSSProperties;
  return (
    <div
      className="cv-task"
      id={`task-${name}`}
      role="group"
      aria-label={spoken(task, template, live, problems, outlook)}
      style={colour}
      data-state={live?.state}
      data-selected={selected || undefined}
      data-faint={faint || undefined}
      data-aimed={aimed || undefined}
      data-difference={difference}
      data-problem={problems?.worst}
    >
      <span className="cv-task-sign"><Icon name={groupIcon(template)} /></span>
      <div className="cv-task-words">
        <div className="cv-task-name">
          <span title={name}>{clip(name, instances === null ? ROOM : ROOM - 40, 14.5)}</span>
          {instances === null ? null : <span className="cv-times" title={t("canvas.instances", { n: instances })}>{live?.instances ? `${live.instances.done}/${live.instances.total}` : `× ${instances}`}</span>}
        </div>
        {cause ? <div className="cv-task-template cv-cause" title={cause}>{clip(cause, ROOM, 12)}</div> : <div className="cv-task-template">{clip(templateLabel(task, template), ROOM, 12)}</div>}
        {live ? <Live live={live} /> : <div className="cv-task-sub">{clip(resourcesOf(task, template), ROOM, 12)}</div>}
      </div>
      {difference ? <span className="cv-mark">{t(MARKS[difference])}</span> : null}
      {problems ? (
        <span className="cv-problem" title={problems.problems.map(({ message }) => message).join("\n")}>
          <Icon name={problems.worst === "error" ? "error" : "warning"} />
        </span>
      ) : null}
      {outlook ? <Outlook mark={outlook} /> : null}
      {live?.progress ? <progress className="progress cv-progress" max={Math.max(1, live.progress.total)} value={live.progress.done} /> : null}
      <span className="cv-port" data-side="in" />
      <span className="cv-port" data-side="out" />
    </div>
  );
});

/** The reason is shown on hover, and while the task is selected: so it is accessible by keyboard, too. */
function Outlook({ mark: { outlook, icon, word, why } }: { mark: OutlookMark }) {
  return (
    <>
      <span className="cv-outlook" data-outlook={outlook}><Icon name={icon} />{word}</span>
      {why.length > 0 ? <span className="cv-outlook-why" aria-hidden="true">{why.map((line) => <span key={line}>{line}</span>)}</span> : null}
    </>
  );
}

function Live({ live }: { live: LiveTask }) {
  const { state, startedAt, endedAt, attempts = 1, reason } = live;
  return (
    <div className="cv-task-sub cv-live" title={reason}>
      <span className="state" data-state={state}><Icon name={stateIcon(state)} /><span>{stateWord(state)}</span></span>
      {/* The page's clock writes into the first: it is not the element that becomes the second. */}
      {startedAt === undefined ? null : endedAt === undefined ? (
        <span key="since" className="number" data-since={new Date(startedAt).toISOString()} />
      ) : (
        <span key="took" className="number">{duration((endedAt - startedAt) / 1000)}</span>
      )}
      {attempts > 1 ? <span title={t("canvas.attempts", { n: attempts })}>↻ {attempts}</span> : null}
    </div>
  );
}
