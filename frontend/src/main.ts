//! The script of every page: what all pages share, and the module of the page that <body data-page> names.

import "./styles/main.css";
import { watchCopies } from "./core/copy";
import { watchFiles } from "./core/file";
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

const AGAIN = "cubeloom.again";

/** A page whose scripts do not come is loaded again so many times, each time a little later, in milliseconds. */
const TRIES = { most: 3, after: 400 };

// What a network that has just changed cut off comes with another load of the page.
function loadedAgain(error: unknown): Promise<never> {
  const tries = Number(sessionStorage.getItem(AGAIN) ?? 0) + 1;
  if (tries > TRIES.most) throw error;
  sessionStorage.setItem(AGAIN, String(tries));
  setTimeout(() => { location.reload(); }, TRIES.after * tries);
  return new Promise(() => undefined);
}

async function begin(): Promise<void> {
  const name = document.body.dataset["page"] ?? "";
  const [, page] = await Promise.all([allTexts(name), pages[`./pages/${name}.ts`]?.()]).catch(loadedAgain);
  sessionStorage.removeItem(AGAIN);
  watchMenus();
  watchSide();
  watchCopies();
  watchFiles();
  // On a narrow screen the open tab may lie beyond the edge.
  document.querySelector(".tabs [aria-current=page]")?.scrollIntoView({ block: "nearest", inline: "center" });
  tick();
  showKept();
  await page?.start();
  // Tests and screenshots wait for it.
  document.documentElement.dataset["ready"] = "";
}

void begin();
