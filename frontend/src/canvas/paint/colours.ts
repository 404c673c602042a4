//! The page's colours for canvas painting: read once, and again when the theme changes.

const NAMES = [
  "bg", "surface", "raised", "border", "border-strong", "control-border", "text", "text-muted", "text-faint", "accent", "accent-text",
  "danger-text", "warning-text", "good-text", "info-text",
  "series-1", "series-2", "series-3", "series-4", "series-5", "series-6",
  "state-succeeded", "state-running", "state-waiting", "state-queued", "state-failed", "state-upstream-failed", "state-backoff",
  "state-cancelled", "state-skipped", "state-reused", "state-pending",
] as const;

/** A colour's name in styles/tokens.css, without the dashes. */
export type ColourName = (typeof NAMES)[number];

/** Every colour as a canvas style, and the font. */
export interface Colours extends Readonly<Record<ColourName, string>> {
  readonly font: string;
}

/** The colours that apply inside an element. */
export function coloursIn(element: HTMLElement): Colours {
  const probe = document.createElement("span");
  probe.hidden = true;
  element.append(probe);
  const style = getComputedStyle(probe);
  const read = (name: string) => {
    probe.style.color = `var(--${name})`;
    return style.color;
  };
  const colours = Object.fromEntries(NAMES.map((name) => [name, read(name)])) as Record<ColourName, string>;
  const font = style.fontFamily;
  probe.remove();
  return { ...colours, font };
}

const STATES: Readonly<Record<string, ColourName>> = {
  succeeded: "state-succeeded",
  running: "state-running",
  submitting: "state-running",
  waiting: "state-waiting",
  queued: "state-queued",
  failed: "state-failed",
  upstream_failed: "state-upstream-failed",
  backoff: "state-backoff",
  cancelled: "state-cancelled",
  cancelling: "state-cancelled",
  stopping: "state-cancelled",
  stopped_early: "state-skipped",
  skipped: "state-skipped",
  reused: "state-reused",
};

export function stateColour(state: string): ColourName {
  return STATES[state] ?? "state-pending";
}
