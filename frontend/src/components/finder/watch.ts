//! The key and the buttons that open the finder, on every page of a signed-in person. Its code is loaded at
//! first use.

import { all, around } from "../../core/dom";
import { isMac } from "../../core/system";
import { moreTexts, t } from "../../core/texts";
import { toast } from "../../core/toast";
import type { Section } from "./entry";

type Offer = () => Promise<Section[]>;

let offered: Offer = () => Promise.resolve([]);
let isOpening = false;

/** Entries of the page itself, above all others. Returns the function that takes them back. */
export function offer(own: Offer): () => void {
  offered = own;
  return () => { if (offered === own) offered = () => Promise.resolve([]); };
}

export function watchFinder(): void {
  if (!document.querySelector("#side")) return;
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || !isKey(event)) return;
    event.preventDefault();
    if (!document.querySelector("dialog[open]")) void openFinder();
  });
  document.addEventListener("click", (event) => { if (around(event, "[data-find]")) void openFinder(); });
  if (isMac()) for (const hint of all("[data-find] kbd")) hint.textContent = "⌘ K";
}

/** Ctrl+K, on a Mac Cmd+K: there, Ctrl+K deletes to the end of the line. */
export function isKey({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): boolean {
  const [mod, other] = isMac() ? [metaKey, ctrlKey] : [ctrlKey, metaKey];
  return key.toLowerCase() === "k" && mod && !other && !altKey && !shiftKey;
}

/** Opens the finder. */
export async function openFinder(): Promise<void> {
  if (isOpening) return;
  isOpening = true;
  const held = new Held();
  try {
    const [{ showFinder }, own] = await Promise.all([import("./finder"), offered(), moreTexts("finder")]);
    if (!held.isCancelled) showFinder(own, held.keys);
  } catch {
    toast(t("common.server-unreachable"), "error");
  } finally {
    held.end();
    isOpening = false;
  }
}

/** Keys that are typed until the field is there are for the field. */
class Held {
  readonly keys: string[] = [];
  isCancelled = false;
  readonly #listen = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Escape") this.isCancelled = true;
    else this.keys.push(event.key);
  };

  constructor() {
    document.addEventListener("keydown", this.#listen, true);
  }

  end(): void {
    document.removeEventListener("keydown", this.#listen, true);
  }
}
