//! The server's results for the typed text.

import { request } from "../../api/client";
import type { Schema } from "../../api/typed";
import { stateIcon } from "../../core/state";
import { stateWord, t } from "../../core/texts";
import { relative } from "../../core/time";
import type { Entry, Section } from "./entry";
import { currentProject } from "./places";

/** A search waits until nothing was typed for this many milliseconds. */
const PAUSE = 80;

/** The server sends at most this many of each kind. */
const EACH = 8;

export class Remote {
  /** Why the last search failed; null if it did not. */
  failed: string | null = null;
  #text: string | null = null;
  #found: readonly Section[] = [];
  #asked = new AbortController();
  #timer = 0;
  readonly #changed: () => void;

  /** `changed` is called when there are other results. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** Whether the results for this text are still to come. */
  isPending(text: string): boolean {
    return text !== this.#text;
  }

  /** The results for this text. Until they are there, those of the previous text that match this one. */
  sections(text: string): Section[] {
    return this.#found.map((section) => ({ ...section, matched: text === this.#text }));
  }

  /** Begins a search, and ends the one before. */
  search(text: string): void {
    this.stop();
    if (!this.isPending(text)) return;
    this.#timer = window.setTimeout(() => void this.#search(text), this.#text === null ? 0 : PAUSE);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#asked.abort();
  }

  async #search(text: string): Promise<void> {
    const asked = new AbortController();
    this.#asked = asked;
    try {
      const query = new URLSearchParams({ q: text, project: currentProject() });
      const { data } = await request("GET", `/search?${query.toString()}`, undefined, { signal: asked.signal });
      this.#take(asked, text, sectionsOf(data), null);
    } catch (error) {
      this.#take(asked, text, [], error instanceof Error ? error.message : String(error));
    }
  }

  #take(asked: AbortController, text: string, found: readonly Section[], failed: string | null): void {
    if (asked.signal.aborted) return;
    this.#text = text;
    this.#found = found;
    this.failed = failed;
    this.#changed();
  }
}

function sectionsOf({ pipelines, runs, models, projects }: Schema<"FoundView">): Section[] {
  return [
    { title: t("common.nav-pipelines"), most: EACH, entries: pipelines.map((one) => named("pipelines", "pipeline", one)) },
    { title: t("common.nav-runs"), most: EACH, entries: runs.map(runOf) },
    { title: t("common.nav-models"), most: EACH, entries: models.map((one) => named("models", "model", one)) },
    { title: t("finder.projects"), most: EACH, entries: projects.map(projectOf) },
  ];
}

function named(kind: "pipelines" | "models", icon: string, { project, name }: Schema<"FoundNameView">): Entry {
  const path = `/projects/${project}/${kind}/${name}`;
  return { id: path, label: name, detail: project, icon, to: path };
}

function runOf({ id, project, pipeline, state, created_at: at }: Schema<"FoundRunView">): Entry {
  // Lists of runs show the end of the id.
  const short = id.slice(-8);
  const since = relative((Date.parse(at) - Date.now()) / 1000);
  return {
    id: `/runs/${id}`,
    label: pipeline,
    detail: [stateWord(state), since, short, project].join(" · "),
    icon: stateIcon(state),
    words: `${id} ${short}`,
    to: `/runs/${id}`,
  };
}

function projectOf({ name, label }: Schema<"FoundProjectView">): Entry {
  const path = `/projects/${name}/pipelines`;
  return { id: `project:${name}`, label, detail: label === name ? undefined : name, icon: "project", words: name, to: path };
}
