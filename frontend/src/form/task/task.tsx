//! The form of one task.

import type { Task } from "../../graph/document";
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

/** Every field of a task, in parts. */
export function TaskForm({ task }: { task: Task }) {
  return (
    <>
      <TaskHead task={task} />
      <ArgumentsPart />
      <OrderPart task={task} />
      <RepeatPart />
      <ResourcesPart />
      <FailurePart />
      <EnvironmentPart />
      <ResultsPart />
      <PlacementPart name="placement" />
      <OthersPart task={task} />
    </>
  );
}
