//! User-facing texts in the page's language. The build includes the texts that scripts name literally.

let texts: Record<string, string> = {};

/** The language of the page: `en` or `zh`. */
export function language(): "en" | "zh" {
  return document.documentElement.lang.startsWith("zh") ? "zh" : "en";
}

/**
 * Loads the texts. main.ts awaits it before a page's module starts, so `t` works anywhere but at a module's
 * top level.
 */
export async function loadTexts(): Promise<void> {
  const module = language() === "zh" ? await import("virtual:texts/zh") : await import("virtual:texts/en");
  texts = { ...texts, ...module.default };
}

const LATER = {
  pages: { en: () => import("virtual:texts/en/pages"), zh: () => import("virtual:texts/zh/pages") },
  editor: { en: () => import("virtual:texts/en/editor"), zh: () => import("virtual:texts/zh/editor") },
  form: { en: () => import("virtual:texts/en/form"), zh: () => import("virtual:texts/zh/form") },
  cron: { en: () => import("virtual:texts/en/cron"), zh: () => import("virtual:texts/zh/cron") },
  finder: { en: () => import("virtual:texts/en/finder"), zh: () => import("virtual:texts/zh/finder") },
};

/** Loads texts that not every page needs; await it before showing them. Other sets may load meanwhile. */
export async function moreTexts(set: keyof typeof LATER): Promise<void> {
  const module = await LATER[set][language()]();
  texts = { ...texts, ...module.default };
}

/**
 * The text of a key, `t(key, {n: 3})`; the key itself if it is missing. A key that does not directly follow
 * `t(` must have the comment `text` before it, which is how the build finds it.
 */
export function t(key: string, values: Record<string, string | number> = {}): string {
  return withValues(texts[key] ?? key, values);
}

/** Replaces the placeholders `{name}` of a text; `{name|one|many}` becomes the plural form for the value. */
export function withValues(text: string, values: Record<string, string | number>): string {
  return text.replace(/\{([a-z_]+)(?:\|([^|}]*)\|([^|}]*))?\}/g, (whole, name: string, one?: string, many?: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    if (one === undefined || many === undefined) return String(value);
    return String(value) === "1" ? one : many;
  });
}

const STATES: Record<string, string> = {
  succeeded: /* text */ "common.state-succeeded",
  running: /* text */ "common.state-running",
  submitting: /* text */ "common.state-submitting",
  stopping: /* text */ "common.state-stopping",
  waiting: /* text */ "common.state-waiting",
  queued: /* text */ "common.state-queued",
  pending: /* text */ "common.state-pending",
  pending_run: /* text */ "common.state-pending_run",
  approval: /* text */ "common.state-approval",
  backoff: /* text */ "common.state-backoff",
  failed: /* text */ "common.state-failed",
  upstream_failed: /* text */ "common.state-upstream_failed",
  cancelled: /* text */ "common.state-cancelled",
  cancelling: /* text */ "common.state-cancelling",
  stopped_early: /* text */ "common.state-stopped_early",
  skipped: /* text */ "common.state-skipped",
  reused: /* text */ "common.state-reused",
};

/** The label of a state. */
export function stateWord(state: string): string {
  const key = STATES[state];
  return key ? t(key) : state;
}
