//! The connection to a terminal. Binary messages are bytes, text messages are JSON. Output is acknowledged
//! after rendering, so that the server never sends more than the page can show.

import type { Schema } from "../../api/typed";
import type { Size } from "./screen";

/** A control message of a terminal. */
export type Said = Schema<"TerminalEvent">;

/** How long and how often a lost connection is retried, in milliseconds. The server waits about as long. */
const TRIES = { for: 25_000, every: 1000 };
/** Maximum message length in characters: each is at most three bytes, and a message 64 KiB. */
const LONGEST = 16 << 10;

/** Callbacks of a connection. */
export interface Reader {
  /** Connected or reconnected: the terminal's recent output follows. */
  connected: () => void;
  /** The connection was lost and is being retried. */
  interrupted: () => void;
  shown: (bytes: Uint8Array, done: () => void) => void;
  said: (said: Said) => void;
  /** The connection was lost for good. */
  lost: () => void;
}

/** A connection to the terminal at `path`. */
export class Connection {
  readonly #url: string;
  readonly #reader: Reader;
  #socket: WebSocket | undefined;
  #size: Size | undefined;
  #over = false;
  #since = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(path: string, reader: Reader) {
    const url = new URL(path, location.href);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    this.#url = url.href;
    this.#reader = reader;
    this.#connect();
  }

  /** Sends input. */
  type(text: string): void {
    const encoder = new TextEncoder();
    for (let at = 0; at < text.length; at += LONGEST) this.#send(encoder.encode(text.slice(at, at + LONGEST)));
  }

  /** Sends the size of the screen. */
  resize(size: Size): void {
    this.#size = size;
    this.#send(JSON.stringify({ kind: "resize", ...size }));
  }

  /** Closes the connection for good. */
  close(): void {
    this.#over = true;
    clearTimeout(this.#timer);
    this.#socket?.close();
  }

  #send(message: string | Uint8Array<ArrayBuffer>): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(message);
  }

  #connect(): void {
    const socket = new WebSocket(this.#url);
    socket.binaryType = "arraybuffer";
    this.#socket = socket;
    socket.addEventListener("open", () => {
      this.#since = 0;
      this.#reader.connected();
      if (this.#size) this.resize(this.#size);
    });
    socket.addEventListener("message", ({ data }) => { this.#heard(data); });
    socket.addEventListener("close", () => { this.#closed(); });
  }

  #heard(data: unknown): void {
    if (data instanceof ArrayBuffer) {
      const bytes = data.byteLength;
      this.#reader.shown(new Uint8Array(data), () => { this.#send(JSON.stringify({ kind: "shown", bytes })); });
      return;
    }
    const said = JSON.parse(String(data)) as Said;
    this.#over ||= said.kind !== "warning";
    this.#reader.said(said);
  }

  #closed(): void {
    if (this.#over) return;
    const now = performance.now();
    if (this.#since === 0) {
      this.#since = now;
      this.#reader.interrupted();
    }
    if (now - this.#since > TRIES.for) {
      this.#over = true;
      this.#reader.lost();
      return;
    }
    this.#timer = setTimeout(() => { this.#connect(); }, TRIES.every);
  }
}
