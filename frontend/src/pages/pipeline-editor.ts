//! The editor's page, the only one that loads the component library.

import "../styles/editor.css";
import { createElement } from "react";
import { createRoot } from "react-dom/client";
import { carried, need } from "../core/dom";
import { moreTexts } from "../core/texts";
import { App } from "../editor/app";
import { Session, type Start } from "../editor/session";

export async function start(): Promise<void> {
  await moreTexts("editor");
  const box = need("#editor-app");
  const back = need<HTMLAnchorElement>(".ed-bar a", box).getAttribute("href") ?? "/";
  const session = new Session(carried("carried") as Start);
  box.className = "ed-root";
  createRoot(box).render(createElement(App, { session, back }));
  box.ariaBusy = null;
}
