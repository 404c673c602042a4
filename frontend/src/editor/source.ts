//! The text of a document: unchanged parts keep their formatting and comments. A web worker, started on
//! demand, parses and writes the text.

import type { Problem } from "../api/problem";
import { moreTexts, t } from "../core/texts";
import type { PipelineDocument } from "../graph/document";
import { worded } from "../graph/finding";
import { readText, writeText } from "./texts-apart";

/** A parse result: a document, or the problems. */
export type Read = { document: PipelineDocument; problems?: never } | { document?: never; problems: Problem[] };

/** Maps documents to their texts. */
export class Source {
  /** Documents that were parsed from a text, or already written. */
  readonly #texts = new WeakMap<PipelineDocument, string>();
  readonly #writing = new WeakMap<PipelineDocument, Promise<string>>();
  /** The text that a changed document is written into. */
  #last: string;

  constructor(text: string, document: PipelineDocument | null) {
    this.#last = text;
    if (document) this.#texts.set(document, text);
  }

  /** The known text of a document; undefined if it must be written first. */
  known(document: PipelineDocument): string | undefined {
    return this.#texts.get(document);
  }

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

  /** Parses a text without changing any state. */
  async peek(text: string): Promise<Read> {
    const [{ document, findings }] = await Promise.all([readText(text), moreTexts("form")]);
    return document ? { document } : { problems: findings.map((finding) => worded(finding, t)) };
  }
}
