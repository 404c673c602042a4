//! The script of every page: shared behaviour, and the module of the page named in <body data-page>.

import "./styles/main.css";
import { watchFinder } from "./components/finder/watch";
import { watchCopies } from "./core/copy";
import { watchFiles } from "./core/file";
import { watchMenus } from "./core/menu";
import { watchSide } from "./core/side";
import { loadTexts, moreTexts } from "./core/texts";
import { tick } from "./core/time";
import { showKept } from "./core/toast";

// A page may have a module `pages/<name>.ts` with `start()`.
const pages = import.meta.glob<{ start: () => void | Promise<void> }>("./pages/*.ts");

// The editor is large even without the other pages' texts; parts of it load them on demand.
function allTexts(page: string): Promise<unknown> {
  return Promise.all([loadTexts(), page === "pipeline-editor" ? null : moreTexts("pages")]);
}

const AGAIN = "cubeloom.again";

/**
 * A page whose scripts fail to load is reloaded up to this many times, each after a longer delay in
 * milliseconds.
 */
const TRIES = { most: 3, after: 400 };

// A reload recovers requests that a network change has interrupted.
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
  watchFinder();
  watchCopies();
  watchFiles();
  // On a narrow screen the current tab may be out of view.
  document.querySelector(".tabs [aria-current=page]")?.scrollIntoView({ block: "nearest", inline: "center" });
  tick();
  showKept();
  await page?.start();
  // Tests and screenshots wait for this.
  document.documentElement.dataset["ready"] = "";
}

void begin();
