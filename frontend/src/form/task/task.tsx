//! The form of one task.

import type { Task } from "../../graph/document";
import { useForm } from "../context";
import { TaskHead } from "./head";
import { ArgumentsPart } from "./arguments";
import { EnvironmentPart } from "./environment";
import { FailurePart } from "./failure";
import { OrderPart } from "./order";
import { OthersPart } from "./others";
import { PlacementPart } from "./placement";
import { RepeatPart } from "./repeat";
import { ResourcesPart } from "./resources";
import { ResultsPart } from "./results";

/** Every field of a task, in sections. */
export function TaskForm({ task }: { task: Task }) {
  const { template } = useForm();
  // A manual task has no fields about workers.
  const works = template === undefined || template.roles.length > 0;
  return (
    <>
      <TaskHead task={task} />
      <ArgumentsPart />
      <OrderPart task={task} />
      <RepeatPart />
      {works ? <ResourcesPart /> : null}
      <FailurePart />
      {works ? <EnvironmentPart /> : null}
      {works ? <ResultsPart /> : null}
      {works ? <PlacementPart name="placement" /> : null}
      <OthersPart task={task} />
    </>
  );
}
