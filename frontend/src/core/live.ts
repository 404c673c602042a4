//! Server-sent events that resume after a lost connection.

import { untilSignedIn } from "../api/session";
import { need } from "./dom";

/** An event stream. */
export interface Live {
  close(): void;
}

/** Event handlers. */
export interface LiveOptions {
  /** Handlers by event name; they get the data as parsed JSON. */
  on: Record<string, (data: unknown, id: string) => void>;
  /** Called on reconnection: missed events are in the replay, or must be read again. */
  onReturn?: () => void;
  /** Called when the server ends the stream (an event `end`). */
  onEnd?: () => void;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
// Short interruptions, such as a server restart, are not shown.
const NOTE_AFTER_MS = 1500;

const lost = new Set<object>();

function note(): void {
  need("#connection").hidden = lost.size === 0;
}

/**
 * Opens the stream at `path`. The browser resends Last-Event-ID itself; once it has given up, `last_event_id`
 * is sent.
 */
export function live(path: string, options: LiveOptions): Live {
  const stream = new Stream(path, options);
  stream.open();
  return stream;
}

class Stream implements Live {
  private source: EventSource | undefined;
  private lastId = "";
  private wait = FIRST_WAIT_MS;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private noteTimer: ReturnType<typeof setTimeout> | undefined;
  private broken = false;
  private closed = false;

  constructor(
    private readonly path: string,
    private readonly options: LiveOptions,
  ) {}

  open(): void {
    const url = new URL(this.path, location.origin);
    if (this.lastId) url.searchParams.set("last_event_id", this.lastId);
    const source = new EventSource(url);
    this.source = source;
    source.addEventListener("open", () => { this.opened(); });
    source.addEventListener("error", () => { this.failed(); });
    source.addEventListener("end", () => {
      this.close();
      this.options.onEnd?.();
    });
    for (const [name, action] of Object.entries(this.options.on)) {
      source.addEventListener(name, (event: MessageEvent<string>) => {
        this.lastId = event.lastEventId;
        action(event.data ? JSON.parse(event.data) : null, event.lastEventId);
      });
    }
  }

  close(): void {
    this.closed = true;
    this.source?.close();
    clearTimeout(this.timer);
    this.settle();
  }

  private opened(): void {
    this.wait = FIRST_WAIT_MS;
    const wasBroken = this.broken;
    this.settle();
    if (wasBroken) this.options.onReturn?.();
  }

  private settle(): void {
    this.broken = false;
    clearTimeout(this.noteTimer);
    this.noteTimer = undefined;
    lost.delete(this);
    note();
  }

  private failed(): void {
    this.broken = true;
    this.noteTimer ??= setTimeout(() => {
      lost.add(this);
      note();
    }, NOTE_AFTER_MS);
    if (this.source?.readyState !== EventSource.CLOSED) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.again(), this.wait * (0.75 + Math.random() / 2));
    this.wait = Math.min(this.wait * 2, LONGEST_WAIT_MS);
  }

  /** The browser does not say why the server refused the stream: the session may have ended. */
  private async again(): Promise<void> {
    await untilSignedIn().catch(() => undefined);
    if (!this.closed) this.open();
  }
}
