//! The part of the run dialog that saves changes before the run.

import { ApiProblem } from "../api/problem";
import { h, icon } from "../core/dom";
import { said } from "../core/fields";
import { t } from "../core/texts";
import type { Instead } from "./wrong";

/** A stored version. */
interface Stored {
  readonly pipeline: string;
  readonly version: number;
}

/** Unsaved changes. */
export interface Unsaved {
  /** How they differ from what is stored, in a sentence. */
  readonly note?: string;
  /** The name of a pipeline that is not stored yet; the user may change it. */
  readonly name?: string;
  /** The message that was entered before. */
  readonly message?: string;
  /** The document with the changes, to compare target clusters. */
  readonly source: { readonly document: string; readonly code?: string };
  /** Saves them. Null if that needs the user first, who was informed. Throws ApiProblem for invalid input. */
  readonly save: (name: string, message: string) => Promise<Stored | null>;
  readonly instead?: Instead;
}

// Names of parameters contain no hyphens.
const NAME = "pipeline-name";
const MESSAGE = "version-message";

/** The fields for the version, and saving it once. */
export class SaveFirst {
  readonly above: readonly HTMLElement[];
  readonly below: readonly HTMLElement[];
  readonly #unsaved: Unsaved;
  #stored: Stored | null = null;

  constructor(unsaved: Unsaved) {
    const { note, name, message = "" } = unsaved;
    this.#unsaved = unsaved;
    this.above = [
      ...(note === undefined ? [] : [h("div", { class: "callout info", role: "note" }, icon("info"), h("div", {}, h("p", {}, note)))]),
      ...(name === undefined ? [] : [field(NAME, "run-name", t("pipeline.name"), { value: name, maxlength: 63, class: "input mono", spellcheck: "false" })]),
    ];
    this.below = [field(MESSAGE, "run-message", t("pipeline.message"), { value: message, maxlength: 2000, class: "input", placeholder: t("pipeline.optional") })];
  }

  /** Saves the changes at the first call; null if they are not saved. */
  async save(data: FormData): Promise<Stored | null> {
    if (this.#stored === null) {
      const name = this.#unsaved.name === undefined ? "" : said(data, NAME);
      this.#stored = await this.#unsaved.save(name, said(data, MESSAGE)).catch(atItsField);
      if (this.#stored !== null) for (const part of [...this.above, ...this.below]) part.remove();
    }
    return this.#stored;
  }
}

function field(name: string, id: string, label: string, attributes: Record<string, string | number>): HTMLElement {
  const input = h("input", { id, name, autocomplete: "off", ...attributes });
  return h("div", { class: "field", "data-field": name }, h("label", { for: id }, label), input);
}

/** A problem with the pipeline's name is shown at its field, and not at a parameter that is called `name`. */
function atItsField(error: unknown): never {
  if (!(error instanceof ApiProblem)) throw error;
  const problems = error.problems.map((one) => (one.path === "/name" ? { ...one, path: `/${NAME}` } : one));
  throw new ApiProblem(error.status, { ...error.body, problems });
}
