//! Starts a run from the Text tab: of the text, which is saved first, or of the stored version.

import type { TextPage } from "../text/page";
import { t } from "../core/texts";
import { askStart } from "./start";
import { tellWrong } from "./wrong";

/** The stored pipeline. */
interface Page {
  readonly project: string;
  readonly pipeline: string;
  readonly newest: number;
  /** The digest of its code folder. */
  readonly code: string | null;
}

/** Asks about a text with unsaved changes. `runStored` asks about the stored version instead. */
export async function startText({ project, pipeline, newest, code }: Page, text: TextPage, runStored: () => void): Promise<void> {
  const { document, problems, parameters } = await text.check();
  const instead = { version: newest, run: runStored };
  const errors = problems.filter(({ severity }) => severity === "error");
  const [first] = errors;
  if (first) {
    const where = first.line === undefined ? "" : t("pipeline.line", { line: first.line });
    tellWrong({ errors, where, show: () => { text.show(first); }, instead });
    return;
  }
  askStart(project, pipeline, parameters ?? {}, {
    unsaved: {
      note: t("pipeline.run-unsaved", { version: newest }),
      message: text.message,
      source: { document, ...(code === null ? {} : { code }) },
      save: async (_, message) => {
        const version = await text.store(message);
        return version === null ? null : { pipeline, version };
      },
      instead,
    },
  });
}
