//! A conflicting save: the other user's changes, and the three ways to continue.

import { h } from "../core/dom";
import { openDialog } from "../core/dialog";
import { language, t } from "../core/texts";
import { exact } from "../core/time";
import type { Hunk, Stale } from "./stale";

/** The user's choice. */
export type Way = "theirs" | "mine" | "merge" | null;

/** Shows the difference and asks. Null continues editing without saving. */
export function askConflict(stale: Stale): Promise<Way> {
  return new Promise((resolve) => {
    const { present, difference } = stale;
    const way = (value: Exclude<Way, null>, label: string, look = "button") =>
      h("button", { class: look, type: "button", onclick: () => { dialog.close(value); } }, label);
    const merged = difference.merged;
    const when = exact(new Date(present.created_at), language());
    const said = present.message === "" ? "" : ` “${present.message}”`;
    const body = [
      h("p", {}, t("pipeline.conflict-text", { user: present.user, version: present.version, when }), said),
      ...(difference.theirs ? [h("h3", {}, t("pipeline.conflict-theirs")), shown(difference.theirs.hunks)] : []),
      h("h3", {}, t("pipeline.conflict-yours")),
      shown(difference.yours.hunks),
    ];
    const merge = merged ? [way("merge", merged.conflicts > 0 ? t("pipeline.conflict-merge-by-hand", { n: merged.conflicts }) : t("pipeline.conflict-merge"), "button primary")] : [];
    const actions = [way("theirs", t("pipeline.conflict-take-theirs")), way("mine", t("pipeline.conflict-overwrite"), "button danger"), ...merge];
    const dialog = openDialog({ title: t("pipeline.conflict"), body, actions, large: true });
    dialog.addEventListener("close", () => { resolve((dialog.returnValue || null) as Way); });
  });
}

const AROUND = 2;

function shown(hunks: Hunk[]): HTMLElement {
  const lines = hunks.flatMap((hunk, at) => {
    const all = hunk.text.replace(/\n$/, "").split("\n");
    if (hunk.kind !== "equal" || all.length <= 2 * AROUND + 1) return all.map((line) => lineOf(hunk.kind, line));
    const head = at === 0 ? [] : all.slice(0, AROUND);
    const tail = at === hunks.length - 1 ? [] : all.slice(-AROUND);
    const left = all.length - head.length - tail.length;
    return [...head.map((line) => lineOf("equal", line)), lineOf("skipped", t("pipeline.skipped", { n: left })), ...tail.map((line) => lineOf("equal", line))];
  });
  return h("div", { class: "diff", tabindex: 0 }, ...lines);
}

function lineOf(kind: string, text: string): HTMLElement {
  const sign = kind === "added" ? "+" : kind === "removed" ? "−" : "";
  return h("div", { class: "diff-line short", "data-kind": kind }, h("span", { class: "diff-sign" }, sign), h("code", {}, text));
}
