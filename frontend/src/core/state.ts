//! State badges, like the macro `state` of the server's pages.

import { h, icon } from "./dom";
import { stateWord } from "./texts";

const SIGNS: Record<string, string> = { stopping: "cancelling" };

/** The icon's name for a state. */
export function stateIcon(state: string): string {
  return `state-${SIGNS[state] ?? state}`;
}

/** A state's icon and label. */
export function stateBadge(state: string): HTMLElement {
  return h("span", { class: "state", "data-state": state }, icon(stateIcon(state)), h("span", {}, stateWord(state)));
}

/** The icon alone, with its label for screen readers. */
export function stateSign(state: string): HTMLElement {
  const word = stateWord(state);
  const hidden = h("span", { class: "visually-hidden" }, word);
  return h("span", { class: "state quiet", "data-state": state, title: word }, icon(stateIcon(state)), hidden);
}
