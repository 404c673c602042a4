//! The text of a document: what did not change stays as it was written, comments too. Texts are read and written by a
//! worker, which begins when it is needed first.

import type { Problem } from "../api/problem";
import { moreTexts, t } from "../core/texts";
import type { PipelineDocument } from "../graph/document";
import { worded } from "../graph/finding";
import { readText, writeText } from "./texts-apart";

/** What was read of a text: a document, or why there is none. */
export type Read = { document: PipelineDocument; problems?: never } | { document?: never; problems: Problem[] };

/** Knows which text belongs to which document. */
export class Source {
  /** Documents that were read from a text, or written already. */
  readonly #texts = new WeakMap<PipelineDocument, string>();
  readonly #writing = new WeakMap<PipelineDocument, Promise<string>>();
  /** The text that a changed document is written into. */
  #last: string;

  constructor(text: string, document: PipelineDocument | null) {
    this.#last = text;
    if (document) this.#texts.set(document, text);
  }

  /** The text that is known of a document; undefined when it has to be written first. */
  known(document: PipelineDocument): string | undefined {
    return this.#texts.get(document);
  }

  /** The text of a document. */
  async text(document: PipelineDocument): Promise<string> {
    const known = this.#texts.get(document);
    if (known !== undefined) {
      this.#last = known;
      return known;
    }
    const from = this.#last;
    const writing = this.#writing.get(document) ?? writeText(from, document);
    this.#writing.set(document, writing);
    const text = await writing;
    this.#texts.set(document, text);
    if (this.#last === from) this.#last = text;
    return text;
  }

  /** Later changes of the document are written into this text. */
  follow(document: PipelineDocument, text: string): void {
    this.#texts.set(document, text);
    this.#last = text;
  }

  /** Reads a text, and leaves everything as it is. */
  async peek(text: string): Promise<Read> {
    const [{ document, findings }] = await Promise.all([readText(text), moreTexts("form")]);
    return document ? { document } : { problems: findings.map((finding) => worded(finding, t)) };
  }
}
