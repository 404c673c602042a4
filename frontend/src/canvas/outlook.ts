//! The forecast mark of a node, if the pipeline ran now: a word on a chip, and the reason.

import { amountOf, plainAmount } from "../core/amount";
import { about, duration } from "../core/time";
import { t } from "../core/texts";
import type { TaskOutlook } from "../editor/outlook";

export interface OutlookMark {
  readonly outlook: "starts" | "waits" | "never";
  /** The icon with the same meaning as the colour. */
  readonly icon: string;
  readonly word: string;
  /** The reason, line by line. */
  readonly why: readonly string[];
}

/** The maximum number of named holders. */
const NAMED = 3;

/** Rules that refuse the run even if the task would fit. */
const REFUSED = ["not_taken", "budget"];

const ICONS = { starts: "check", waits: "clock", never: "error" } as const;

/** The mark of a task; null if there is nothing to show: it starts later, or its forecast is unknown. */
export function outlookMark(task: TaskOutlook | undefined): OutlookMark | null {
  if (task === undefined || task.outlook === "later" || task.outlook === "unknown") return null;
  return { outlook: task.outlook, icon: ICONS[task.outlook], word: word(task), why: why(task) };
}

function word(task: TaskOutlook): string {
  if (task.outlook === "starts") return t("canvas.outlook-starts");
  if (task.outlook === "never") return REFUSED.includes(task.rule ?? "") ? t("canvas.outlook-not-taken") : t("canvas.outlook-never");
  return task.start ? t("canvas.outlook-waits-about", { time: about(secondsUntil(task.start.p50)) }) : t("canvas.outlook-waits");
}

function why(task: TaskOutlook): string[] {
  const { message, holders, more_holders: untold, hidden_holders: hidden, ahead, start, run_time: time } = task;
  const more = Math.max(0, holders.length - NAMED) + untold + hidden;
  return [
    message ?? "",
    held(task),
    more > 0 ? t("canvas.outlook-others", { n: more }) : "",
    typeof ahead === "number" && ahead > 0 ? t("canvas.outlook-ahead", { n: ahead }) : "",
    start ? t("canvas.outlook-late", { time: about(secondsUntil(start.p90)) }) : "",
    time ? t("canvas.outlook-took", { time: duration(time.p50_seconds), late: duration(time.p90_seconds), n: time.attempts }) : "",
  ].filter(Boolean);
}

/** The allocated amount of what it waits for, and the holders with their amounts. */
function held({ holders, more_holders: untold, hidden_holders: hidden, shortages }: TaskOutlook): string {
  // GPUs are usually the scarcest resource: a GPU shortage is shown first.
  const short = shortages.find((one) => one.resource.startsWith("gpus")) ?? shortages[0];
  const names = holders.slice(0, NAMED).map((holder) => {
    const values = { task: holder.task, project: holder.project, user: holder.user };
    const name = holder.run === undefined || holder.run === null ? t("canvas.outlook-own", values) : t("canvas.outlook-holder", values);
    const amount = short && holder.amounts[short.resource];
    return short === undefined || amount === undefined ? name : t("canvas.outlook-holds", { name, amount: amountOf(short.resource, amount) });
  });
  const most = short?.limit;
  if (short === undefined || most === undefined || most === null) return names.length > 0 ? t("canvas.outlook-held", { names: names.join(", ") }) : "";
  // If all holders are known, this is their part: the rest is not needed for this task.
  const theirs = holders.reduce((sum, holder) => sum + (holder.amounts[short.resource] ?? 0), 0);
  const much = untold + hidden > 0 || theirs === 0 ? short.held : theirs;
  const values = { held: plainAmount(short.resource, much), most: amountOf(short.resource, most) };
  if (names.length > 0) return t("canvas.outlook-held-of", { ...values, names: names.join(", ") });
  return short.held > 0 ? t("canvas.outlook-taken", values) : "";
}

function secondsUntil(moment: string): number {
  return Math.max(0, (Date.parse(moment) - Date.now()) / 1000);
}
