// A task that hangs.

import { until } from "./server.mjs";
import { start } from "./stage.mjs";

/** Eight steps; the first attempt fails because the disk is full, the second repeats the steps and hangs. */
const STEPS = [
  "for step in 1 2 3 4 5 6 7 8; do sleep 0.1;",
  `echo '{\\"progress\\": {\\"step\\": '$step', \\"total\\": 9}}' >> $CUBELOOM_OUTPUTS; sleep 1; done;`,
  "if [ $CUBELOOM_ATTEMPT = 1 ]; then echo OSError: No space left on device >&2; exit 1; fi; sleep 600",
].join(" ");

const DOCUMENT = `apiVersion: cubeloom/v1
kind: Pipeline
name: stuck
tasks:
  - name: train
    template: command
    resources: {cpu: 100m, memory: 64Mi}
    retry: {attempts: 2, backoff: {initial: 1s}}
    hang: {after: 2s}
    arguments: {command: [sh, -c, "${STEPS}"]}
`;

/**
 * Starts it, and waits until the hang is detected and the worker's stack is known. Returns the run, which the
 * caller must cancel.
 */
export async function stuck(api) {
  const run = await start(api, { document: DOCUMENT });
  const looked = async () => {
    const { body } = await api("GET", `/runs/${run}/tasks/train/instances/0/attempts`);
    return body.items.some((attempt) => attempt.hang?.stacks?.length === 1);
  };
  await until("what the task is at", looked, undefined, 120);
  return run;
}
