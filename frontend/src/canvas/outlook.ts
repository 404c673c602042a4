//! What a node says of what would become of its task if the pipeline were run now: a word on a chip, and why.

import { about, duration } from "../core/time";
import { t } from "../core/texts";
import type { TaskOutlook } from "../editor/outlook";

/** A mark at a node. */
export interface OutlookMark {
  readonly outlook: "starts" | "waits" | "never";
  /** The icon that says it without the colour. */
  readonly icon: string;
  readonly word: string;
  /** Why, line by line. */
  readonly why: readonly string[];
}

/** So many holders are named. */
const NAMED = 3;

const ICONS = { starts: "check", waits: "clock", never: "error" } as const;

/** The mark of a task; none where there is nothing to tell: it comes later, or nobody knows. */
export function outlookMark(task: TaskOutlook | undefined): OutlookMark | null {
  if (task === undefined || task.outlook === "later" || task.outlook === "unknown") return null;
  return { outlook: task.outlook, icon: ICONS[task.outlook], word: word(task), why: why(task) };
}

function word(task: TaskOutlook): string {
  if (task.outlook === "starts") return t("canvas.outlook-starts");
  if (task.outlook === "never") return t("canvas.outlook-never");
  return task.start ? t("canvas.outlook-waits-about", { time: about(secondsUntil(task.start.p50)) }) : t("canvas.outlook-waits");
}

function why({ message, holders, hidden_holders: hidden, ahead, start, run_time: time }: TaskOutlook): string[] {
  const named = holders.slice(0, NAMED).map((holder) => {
    const values = { task: holder.task, project: holder.project, user: holder.user };
    return holder.run === undefined || holder.run === null ? t("canvas.outlook-own", values) : t("canvas.outlook-holder", values);
  });
  const more = holders.length - named.length + hidden;
  return [
    message ?? "",
    named.length > 0 ? t("canvas.outlook-held", { names: named.join(", ") }) : "",
    more > 0 ? t("canvas.outlook-others", { n: more }) : "",
    typeof ahead === "number" && ahead > 0 ? t("canvas.outlook-ahead", { n: ahead }) : "",
    start ? t("canvas.outlook-late", { time: about(secondsUntil(start.p90)) }) : "",
    time ? t("canvas.outlook-took", { time: duration(time.p50_seconds), late: duration(time.p90_seconds), n: time.attempts }) : "",
  ].filter(Boolean);
}

function secondsUntil(moment: string): number {
  return Math.max(0, (Date.parse(moment) - Date.now()) / 1000);
}
