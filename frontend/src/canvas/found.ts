//! What the finder finds on the canvas: its tasks and its commands.

import { local } from "../api/knowledge";
import type { Entry, Section } from "../components/finder/entry";
import { isMac } from "../core/system";
import { t } from "../core/texts";
import { templateOfTask } from "../editor/templates";
import { COMMANDS } from "./commands/all";
import { groupIcon } from "./groups";
import { goTo } from "./keys";
import { groupTitle } from "./over/group-title";
import type { SceneNode } from "./scene";
import { keysOf } from "./shortcut";
import type { Stage } from "./stage";

/** At most this many tasks are listed. */
const TASKS = 20;

/** The sections; none while the canvas is hidden. */
export function sections(stage: Stage): Section[] {
  if (!stage.root?.checkVisibility()) return [];
  const tasks = [...stage.scene.nodes.values()].map((node) => taskOf(stage, node));
  return [
    { title: t("canvas.tasks"), entries: tasks, most: TASKS, quiet: true },
    { title: t("canvas.commands"), entries: commands(stage), most: COMMANDS.length },
  ];
}

function commands(stage: Stage): Entry[] {
  return COMMANDS.filter(({ id }) => id !== "commands").map((command): Entry => ({
    id: `command:${command.id}`,
    label: t(command.label),
    detail: groupTitle(command.group),
    keys: command.keys?.[0] === undefined ? undefined : keysOf(command.keys[0], isMac()),
    refusal: command.refusal?.(stage) ?? null,
    to: () => {
      // As after a click on its button: the next keys are for the canvas.
      stage.root?.focus();
      command.perform(stage);
    },
  }));
}

function taskOf(stage: Stage, { name, task }: SceneNode): Entry {
  const template = templateOfTask(stage.templates, task);
  return {
    id: `task:${name}`,
    label: name,
    detail: template ? local(template.label) : undefined,
    icon: groupIcon(template),
    to: () => { show(stage, name); },
  };
}

/** Selects a task and moves the view to it. */
function show(stage: Stage, name: string): void {
  const node = stage.scene.nodes.get(name);
  if (!node) return;
  stage.root?.focus();
  goTo(stage, `task:${name}`);
  stage.camera.fit(node);
}
