//! What the page itself knows: its navigation, and on a run's page the run's tasks.

import { request } from "../../api/client";
import { all } from "../../core/dom";
import { stateIcon } from "../../core/state";
import { stateWord, t } from "../../core/texts";
import type { Entry, Section } from "./entry";

/** The pages of the navigation: those that this person may see, of the current project. */
export function pages(): Section {
  const links = all<HTMLAnchorElement>("#side nav a, #side a[data-place]");
  return { title: t("finder.pages"), most: 8, entries: links.map(pageOf) };
}

// The last part of the path is the English name, in any language.
function pageOf(link: HTMLAnchorElement): Entry {
  const path = link.getAttribute("href") ?? "/";
  const [name = ""] = path.replace(/^\/projects\/[^/]+/, "").split("/").slice(-1);
  return {
    id: path,
    label: link.textContent.trim(),
    icon: link.querySelector("use")?.getAttribute("href")?.slice("#i-".length),
    words: `${name} ${link.dataset["place"] ?? ""}`,
    to: path,
  };
}

/** The name of the current project; empty if there is none. */
export function currentProject(): string {
  const link = document.querySelector("#side nav a[href^='/projects/']");
  return /^\/projects\/([^/]+)/.exec(link?.getAttribute("href") ?? "")?.[1] ?? "";
}

/** The tasks of the run whose page this is; null on other pages. */
export async function tasksOfRun(): Promise<Section | null> {
  const run = /^\/runs\/([^/]+)/.exec(location.pathname)?.[1];
  if (run === undefined) return null;
  const { data } = await request("GET", `/runs/${run}/graph`);
  const entries = data.nodes.map(({ id, state, template }): Entry => ({
    id: `task:${id}`,
    label: id,
    detail: `${stateWord(state)} · ${template}`,
    icon: stateIcon(state),
    to: `/runs/${run}/tasks/${encodeURIComponent(id)}`,
  }));
  return { title: t("finder.tasks"), most: 12, entries };
}
