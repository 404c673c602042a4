//! The script of every page: what all pages share, and the module of the page that <body data-page> names.

import "./styles/main.css";
import { watchCopies } from "./core/copy";
import { watchMenus } from "./core/menu";
import { watchSide } from "./core/side";
import { loadTexts, moreTexts } from "./core/texts";
import { tick } from "./core/time";
import { showKept } from "./core/toast";

// A page has a module `pages/<name>.ts` with `start()`, or none.
const pages = import.meta.glob<{ start: () => void | Promise<void> }>("./pages/*.ts");

// The editor is large without the words of the other pages; what of it needs them loads them.
function allTexts(page: string): Promise<unknown> {
  return Promise.all([loadTexts(), page === "pipeline-editor" ? null : moreTexts("pages")]);
}

async function begin(): Promise<void> {
  const name = document.body.dataset["page"] ?? "";
  const [, page] = await Promise.all([allTexts(name), pages[`./pages/${name}.ts`]?.()]);
  watchMenus();
  watchSide();
  watchCopies();
  // On a narrow screen the open tab may lie beyond the edge.
  document.querySelector(".tabs [aria-current=page]")?.scrollIntoView({ block: "nearest", inline: "center" });
  tick();
  showKept();
  await page?.start();
  // Tests and screenshots wait for it.
  document.documentElement.dataset["ready"] = "";
}

void begin();
