//! For-each: one instance per item of a list, per combination of a matrix, per item of an earlier task's
//! output, or per trial of a search.

import { useId, useState } from "react";
import { t } from "../../core/texts";
import type { Json } from "../../graph/document";
import { useBound } from "../context";
import { readText, shown, useDraft } from "../draft";
import { Field } from "../fields/field";
import { Frame } from "../fields/frame";
import { Prose } from "../fields/prose";
import { Segments } from "../fields/segments";
import { TextField } from "../fields/text";
import { Fold } from "../fold";
import { isMapping } from "../path";
import { countOf, waysOfRepeating, type Way } from "./elements";
import { SearchFields } from "./search";

/** The initial number of trials of a search. */
const TRIALS = 20;

export function RepeatPart() {
  const title = t("form.repeat");
  const bound = useBound(["for_each"], title);
  const search = useBound(["search"], t("form.repeat-search"));
  const searches = search.value !== undefined;
  const value = isMapping(bound.value) ? bound.value : null;
  const [wanted, setWanted] = useState<Way>("none");
  const way = waysOfRepeating.find((one) => value?.[one] !== undefined) ?? wanted;
  const choose = (index: number) => {
    const next = (["none", ...waysOfRepeating] as const)[index] ?? "none";
    setWanted(next);
    const isSearch = index > waysOfRepeating.length;
    if (isSearch !== searches) {
      search.seal();
      search.set(isSearch ? { over: {}, maximize: "", trials: TRIALS } : undefined);
      search.seal();
    }
    if (isSearch && bound.value === undefined) return;
    const kept = value?.["parallelism"];
    const empty: Record<Way, Json | undefined> = { none: undefined, list: { list: [] }, matrix: undefined, from: undefined };
    bound.seal();
    bound.set(isMapping(empty[next]) && kept !== undefined ? { ...empty[next], parallelism: kept } : empty[next]);
    bound.seal();
  };
  const count = countOf(bound.value);
  const counted = count === null ? "" : t("form.instances", { n: count });
  const trials = isMapping(search.value) && typeof search.value["trials"] === "number" ? t("form.trials", { n: search.value["trials"] }) : "";
  return (
    <Fold name="repeat" title={title} keys={["for_each", "search"]} summary={searches ? trials || t("form.repeat-search") : value ? counted || shown(value["from"]) : ""}>
      <Segments label={title} options={[t("form.repeat-none"), t("form.repeat-list"), t("form.repeat-matrix"), t("form.repeat-from"), t("form.repeat-search")]} chosen={searches && !value ? 1 + waysOfRepeating.length : 1 + waysOfRepeating.indexOf(way as "list")} disabled={bound.readOnly} choose={choose} />
      {searches ? <SearchFields /> : <p className="field-help"><Prose text={t("form.repeat-help")} /></p>}
      {way === "list" ? <Field path={["for_each", "list"]} kind={{ type: "list", item: { type: "scalar" }, placeholder: "" }} title={t("form.elements")} required /> : null}
      {way === "matrix" ? <Field path={["for_each", "matrix"]} kind={{ type: "map", value: { type: "list", item: { type: "scalar" }, placeholder: "" } }} title={t("form.matrix")} help={t("form.matrix-help")} required plain /> : null}
      {way === "from" ? <From /> : null}
      {value && way !== "none" ? <Field path={["for_each", "parallelism"]} kind={{ type: "number", integer: true, minimum: 1 }} title={t("form.at-once")} help={t("form.at-once-help")} placeholder={t("form.no-limit")} plain /> : null}
      {counted ? <p className="form-note" role="status">{counted}</p> : null}
    </Fold>
  );
}

function From() {
  const id = useId();
  const title = t("form.from");
  const bound = useBound(["for_each", "from"], title);
  const draft = useDraft(bound, readText, shown);
  return (
    <Frame id={id} pointer={bound.pointer} title={title} help={t("form.from-help")} required>
      {(ties) => <TextField id={ties.id} text={draft.text} onText={draft.change} onLeave={draft.leave} describedBy={ties.describedBy} invalid={ties.invalid} readOnly={bound.readOnly} placeholder="tasks.list.outputs.files" path={["for_each", "from"]} bare />}
    </Frame>
  );
}
