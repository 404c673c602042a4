//! The text of a document: what did not change stays as it was written, comments too. The parser of YAML is loaded when
//! it is needed first.

import type { Problem } from "../api/problem";
import type { PipelineDocument } from "../graph/document";

/** What was read of a text: a document, or why there is none. */
export type Read = { document: PipelineDocument; problems?: never } | { document?: never; problems: Problem[] };

/** Knows which text belongs to which document. */
export class Source {
  /** Documents that were read from a text, or written already. */
  readonly #texts = new WeakMap<PipelineDocument, string>();
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
    if (known !== undefined) return known;
    const { written } = await import("./yaml");
    const text = written(this.#last, document);
    this.#texts.set(document, text);
    return text;
  }

  /** Reads a text that somebody wrote; later changes of the document are written into it. */
  async read(text: string): Promise<Read> {
    const { read } = await import("./yaml");
    const found = read(text);
    if (found.document) {
      this.#texts.set(found.document, text);
      this.#last = text;
    }
    return found;
  }
}
