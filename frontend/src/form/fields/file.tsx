//! The path of a file, typed or chosen.

import { t } from "../../core/texts";
import { useForm } from "../context";
import { readText, shown, useDraft } from "../draft";
import { Icon } from "../../editor/icon";
import { readVolume } from "../task/uses";
import type { ControlParts } from "./control";
import { TextField } from "./text";

/** The path, and a button that opens the files of the pipeline, the project and the volumes. */
export function FileField({ path, bound, ties, title, labelled, placeholder, plain }: ControlParts) {
  const { knowledge, tasks } = useForm();
  const draft = useDraft(bound, readText, shown);
  const choose = async () => {
    const { chooseFile } = await import("./file-dialog");
    const volumes = tasks[0]?.["volumes"];
    const chosen = await chooseFile(knowledge, Array.isArray(volumes) ? volumes.map(readVolume) : [], title);
    if (chosen === null) return;
    bound.seal();
    bound.set(chosen);
    bound.seal();
  };
  return (
    <div className="form-beside">
      <TextField
        id={ties.id} text={draft.text} onText={draft.change} onLeave={draft.leave} label={labelled ? title : undefined} describedBy={ties.describedBy}
        invalid={ties.invalid} readOnly={bound.readOnly} mono placeholder={bound.mixed ? t("form.mixed") : placeholder} path={plain ? undefined : path}
      />
      {bound.readOnly ? null : (
        <button type="button" className="button icon-only" aria-label={t("form.choose-file", { field: title })} title={t("form.choose-file", { field: title })} onClick={() => void choose()}><Icon name="folder" /></button>
      )}
    </div>
  );
}
