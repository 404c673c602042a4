//! Placement and priority of workers. The same for a task and for the whole pipeline.

import { useId } from "react";
import { t } from "../../core/texts";
import type { Json } from "../../graph/document";
import { useBound, useForm } from "../context";
import { shown } from "../draft";
import { ChoiceField } from "../fields/choice";
import { Field } from "../fields/field";
import { Frame } from "../fields/frame";
import { Fold } from "../fold";
import type { Path } from "../../graph/edit";
import { valueAt } from "../../graph/edit";
import type { Field as Member } from "../schema/kinds";
import { placementInWords } from "../summary";
import { LimitsField } from "./limits";

const WORDS: Readonly<Record<string, string>> = {
  preferred: /* text */ "form.spread-preferred",
  required: /* text */ "form.spread-required",
  none: /* text */ "form.spread-none",
  host: /* text */ "form.by-host",
  zone: /* text */ "form.by-zone",
  pack: /* text */ "form.workers-pack",
  spread: /* text */ "form.workers-spread",
  off: /* text */ "form.sizing-off",
  advise: /* text */ "form.sizing-advise",
  auto: /* text */ "form.sizing-auto",
};

/** The section; `cluster` shows the choice of a cluster, which only a pipeline has. */
export function PlacementPart({ name, cluster = false }: { name: string; cluster?: boolean }) {
  const { tasks, document, places } = useForm();
  const root = tasks[0] ?? document;
  const groups = [...new Set(places.flatMap((place) => place.node_groups))];
  const summary = tasks.length > 1 ? "" : placementInWords(valueAt(root, ["placement"]), valueAt(root, ["priority"]), cluster ? valueAt(root, ["cluster"]) : undefined, valueAt(root, ["limits"]));
  return (
    <Fold name={name} title={t("form.placement")} keys={["placement", "priority", "preemptible", "limits", "sizing", ...(cluster ? ["cluster"] : [])]} summary={summary}>
      {cluster ? <WordField path={["cluster"]} title={t("form.cluster")} options={places.map((place) => place.name)} /> : null}
      <div className="form-row">
        <Field path={["priority"]} kind={{ type: "priority" }} title={t("form.priority")} help={t("form.priority-help")} placeholder="0" plain />
        <WordField path={["sizing"]} title={t("form.sizing")} options={["off", "advise", "auto"]} />
      </div>
      <Field path={["preemptible"]} kind={{ type: "boolean" }} title={t("form.preemptible")} help={t("form.preemptible-help")} usual={cluster || tasks.length > 1 ? true : undefined} plain />
      {cluster || tasks.length > 1 ? null : <LimitsField />}
      <div className="form-row">
        <WordField path={["placement", "spread"]} title={t("form.spread")} options={["preferred", "required", "none"]} />
        <WordField path={["placement", "spread_by"]} title={t("form.spread-by")} options={["host", "zone"]} />
        <WordField path={["placement", "workers"]} title={t("form.workers")} options={["pack", "spread"]} />
        <Field path={["placement", "node_group"]} kind={groups.length > 0 ? { type: "choice", options: groups } : { type: "text", long: false }} title={t("form.node-group")} plain />
      </div>
      <Field path={["placement", "selector"]} kind={{ type: "map", value: { type: "text", long: false } }} title={t("form.selector")} help={t("form.selector-help")} plain />
      <Field path={["placement", "tolerations"]} kind={{ type: "list", item: { type: "object", fields: toleration() }, placeholder: "" }} title={t("form.tolerations")} plain />
      <Field path={["placement", "host_network"]} kind={{ type: "boolean" }} title={t("form.host-network")} usual={false} plain />
    </Fold>
  );
}

/** A choice of fixed words; other values are shown unchanged. */
export function WordField({ path, title, options }: { path: Path; title: string; options: readonly string[] }) {
  const id = useId();
  const bound = useBound(path, title);
  const wordOf = (option: Json) => {
    const key = path[0] === "cluster" ? undefined : WORDS[shown(option)];
    return key ? t(key) : shown(option);
  };
  return (
    <Frame id={id} pointer={bound.pointer} title={title}>
      {(ties) => <ChoiceField path={path} kind={{ type: "choice", options }} bound={bound} ties={ties} title={title} placeholder="" options={options} wordOf={wordOf} />}
    </Frame>
  );
}

function toleration(): Member[] {
  const member = (name: string, title: string, required: boolean): Member => ({ name, title, required, help: "", default: undefined, placeholder: "", group: "", kind: { type: "text", long: false } });
  return [member("key", t("form.toleration-key"), true), member("value", t("form.toleration-value"), false), { ...member("effect", t("form.toleration-effect"), false), kind: { type: "choice", options: ["NoSchedule", "PreferNoSchedule", "NoExecute"] } }];
}
