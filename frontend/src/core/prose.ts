//! Server messages, in which words between backticks are code.

import { h } from "./dom";

/** The message as nodes to insert into an element. */
export function prose(sentence: string): (Node | string)[] {
  return sentence.split("`").map((part, index) => (index % 2 === 1 ? h("code", {}, part) : part));
}
