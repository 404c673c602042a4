//! The sign of a state, as the macro `state` of the server's pages makes it.

import { h, icon } from "./dom";
import { stateWord } from "./texts";

const SIGNS: Record<string, string> = { stopping: "cancelling" };

/** The picture's name for a state. */
export function stateIcon(state: string): string {
  return `state-${SIGNS[state] ?? state}`;
}

/** Sign and word of a state. */
export function stateBadge(state: string): HTMLElement {
  return h("span", { class: "state", "data-state": state }, icon(stateIcon(state)), h("span", {}, stateWord(state)));
}

/** The sign alone; its word is there for those who do not see it. */
export function stateSign(state: string): HTMLElement {
  const word = stateWord(state);
  const hidden = h("span", { class: "visually-hidden" }, word);
  return h("span", { class: "state quiet", "data-state": state, title: word }, icon(stateIcon(state)), hidden);
}
