//! The volumes of a task, by name.

import { useId } from "react";
import { t } from "../../core/texts";
import { useBound, useForm, type Bound } from "../context";
import { Frame } from "../fields/frame";
import { Picker } from "../fields/picker";
import { TextField } from "../fields/text";
import { Icon } from "../../editor/icon";
import { readVolume, usualVariable, writeVolume, type VolumeUse } from "./uses";

/** A row per volume, and a picker for the project's volumes. */
export function VolumesField() {
  const id = useId();
  const { knowledge } = useForm();
  const title = t("form.volumes");
  const bound = useBound(["volumes"], title);
  const uses = Array.isArray(bound.value) ? bound.value.map(readVolume) : [];
  const free = knowledge.volumes.filter((name) => !uses.some((use) => use.name === name));
  const write = (next: readonly VolumeUse[]) => { bound.set(next.length > 0 ? next.map(writeVolume) : undefined); };
  const step = (next: readonly VolumeUse[]) => {
    bound.seal();
    write(next);
    bound.seal();
  };
  return (
    <Frame id={id} pointer={bound.pointer} title={title} help={t("form.volumes-help")}>
      {(ties) => (
        <div className="rows">
          <ul className="rows-list">
            {uses.map((use, index) => (
              <Row key={index} use={use} bound={bound} change={(next, whole) => { (whole ? step : write)(uses.with(index, next)); }} remove={() => { step(uses.toSpliced(index, 1)); }} />
            ))}
          </ul>
          {bound.readOnly ? null : <Picker id={ties.id} options={free} free placeholder={t("form.add-volume")} describedBy={ties.describedBy} pick={(name) => { step([...uses, { name, mount: "", readOnly: false }]); }} />}
        </div>
      )}
    </Frame>
  );
}

interface RowParts {
  readonly use: VolumeUse;
  readonly bound: Bound;
  readonly change: (use: VolumeUse, whole: boolean) => void;
  readonly remove: () => void;
}

function Row({ use, bound, change, remove }: RowParts) {
  const id = useId();
  return (
    <li className="rows-use">
      <span className="mono rows-name">{use.name}</span>
      {bound.readOnly ? null : <button type="button" className="button quiet small icon-only" aria-label={t("form.remove-name", { name: use.name })} title={t("form.remove-name", { name: use.name })} onClick={remove}><Icon name="close" /></button>}
      <TextField id={id} text={use.mount} onText={(mount) => { change({ ...use, mount }, false); }} onLeave={bound.seal} label={t("form.mount", { name: use.name })} readOnly={bound.readOnly} placeholder={`CUBELOOM_VOLUME_${usualVariable(use.name)}`} mono />
      <label className="check small">
        <input type="checkbox" checked={use.readOnly} disabled={bound.readOnly} onChange={(event) => { change({ ...use, readOnly: event.target.checked }, true); }} />
        <span>{t("form.read-only")}</span>
      </label>
    </li>
  );
}
