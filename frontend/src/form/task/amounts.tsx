//! CPU, memory and other resources of one worker.

import { useState } from "react";
import { t } from "../../core/texts";
import type { Json } from "../../graph/document";
import { useBound, useForm } from "../context";
import { shown } from "../draft";
import { AmountField } from "../fields/amount";
import { Field } from "../fields/field";
import { More } from "../fields/more";
import { Segments } from "../fields/segments";
import type { Path } from "../../graph/edit";
import { isMapping } from "../path";
import { amount, bytesShown, rounded } from "../quantity";
import { groupOf, roomOf, type Room } from "../room";

interface AmountsParts {
  readonly path: Path;
  /** The defaults: the template's amounts. */
  readonly usual: Readonly<Record<string, unknown>>;
}

/** The fields. An amount that exceeds every node is reported at once. */
export function Amounts({ path, usual }: AmountsParts) {
  const { document, tasks, places } = useForm();
  const room = roomOf(places, document["cluster"], groupOf(document, tasks));
  const cpu = useBound([...path, "cpu"], "").value;
  const memory = useBound([...path, "memory"], "").value;
  const whole = useBound(path, "").value;
  const more = isMapping(whole) && ["cpu_limit", "processes_per_gpu", "shm", "rdma", "cpu_exclusive", "pinned"].some((key) => whole[key] !== undefined);
  const tooMuch = (value: Json | undefined, measure: "cpu" | "bytes", most: number | undefined) => {
    const asked = value === undefined || value === null ? null : amount(measure, shown(value));
    return asked !== null && most !== undefined && asked > most ? inRoom(room, t("form.too-much")) : null;
  };
  return (
    <>
      <div className="form-row">
        <AmountField path={[...path, "cpu"]} measure="cpu" title={t("form.cpu")} placeholder={shown(usual["cpu"] as Json) || "1"} help={room ? inRoom(room, t("form.of-cores", { n: rounded(room.cpu) })) : ""} tooMuch={tooMuch(cpu, "cpu", room?.cpu)} />
        <AmountField path={[...path, "memory"]} measure="bytes" title={t("form.memory")} placeholder={shown(usual["memory"] as Json) || "1Gi"} help={room ? inRoom(room, t("form.of-memory", { amount: bytesShown(room.memory) })) : ""} tooMuch={tooMuch(memory, "bytes", room?.memory)} />
      </div>
      <Gpu path={[...path, "gpu"]} room={room} />
      <More label={t("form.more-resources")} open={more}>
        <AmountField path={[...path, "cpu_limit"]} measure="cpu" title={t("form.cpu-limit")} placeholder={t("form.cpu-limit-none")} help={t("form.cpu-limit-help")} />
        <div className="form-row">
          <AmountField path={[...path, "shm"]} measure="bytes" title={t("form.shm")} placeholder="64Mi" />
          <Field path={[...path, "rdma"]} kind={{ type: "number", integer: true, minimum: 0 }} title={t("form.rdma")} placeholder="0" plain />
        </div>
        <Field path={[...path, "processes_per_gpu"]} kind={{ type: "number", integer: true, minimum: 1, maximum: 64 }} title={t("form.processes-per-gpu")} help={t("form.processes-per-gpu-help")} plain />
        <Field path={[...path, "cpu_exclusive"]} kind={{ type: "boolean" }} title={t("form.cpu-exclusive")} help={t("form.cpu-exclusive-help")} usual={false} plain />
        <Field path={[...path, "pinned"]} kind={{ type: "boolean" }} title={t("form.pinned")} help={t("form.pinned-help")} usual={false} plain />
      </More>
    </>
  );
}

/** A sentence about a capacity, with its node group. */
function inRoom(room: Room | null, text: string): string {
  return room?.group === undefined ? text : t("form.in-group", { group: room.group, text });
}

const GPU = ["count", "fraction", "memory"] as const;

/** GPUs: whole ones, a fraction of one, or some of its memory. */
function Gpu({ path, room }: { path: Path; room: Room | null }) {
  const title = t("form.gpu");
  const bound = useBound(path, title);
  const [wanted, setWanted] = useState(-1);
  const value = isMapping(bound.value) ? bound.value : null;
  const written = GPU.findIndex((way) => value?.[way] !== undefined);
  const way = written >= 0 ? written : wanted;
  const choose = (index: number) => {
    const next = GPU[index - 1];
    setWanted(index - 1);
    const type = value?.["type"];
    const kept = type === undefined ? {} : { type };
    bound.seal();
    bound.set(next === undefined ? undefined : next === "count" ? { count: 1, ...kept } : next === "fraction" ? { fraction: 0.5, ...kept } : type === undefined ? undefined : kept);
    bound.seal();
  };
  return (
    <div className="field form-field" role="group" aria-label={title} data-pointer={bound.pointer}>
      <span className="field-label">{title}</span>
      <Segments label={title} options={[t("form.gpu-none"), t("form.gpu-count"), t("form.gpu-fraction"), t("form.gpu-memory")]} chosen={way + 1} disabled={bound.readOnly} choose={choose} />
      {room ? <p className="field-help">{inRoom(room, room.gpus > 0 ? t("form.of-gpus", { n: room.gpus, types: room.types.join(", ") }) : t("form.no-gpus"))}</p> : null}
      {way < 0 ? null : (
        <div className="form-row">
          {way === 0 ? <Field path={[...path, "count"]} kind={{ type: "number", integer: true, minimum: 1 }} title={t("form.gpu-cards")} wrong={room && typeof value?.["count"] === "number" && value["count"] > room.gpus ? inRoom(room, t("form.too-much")) : null} plain /> : null}
          {way === 1 ? <Field path={[...path, "fraction"]} kind={{ type: "number", integer: false, minimum: 0, maximum: 1 }} title={t("form.gpu-part")} plain /> : null}
          {way === 2 ? <AmountField path={[...path, "memory"]} measure="bytes" title={t("form.memory")} placeholder="8Gi" /> : null}
          <Field path={[...path, "type"]} kind={{ type: "text", long: false }} title={t("form.gpu-type")} placeholder={room?.types[0] ?? "H100"} plain />
        </div>
      )}
    </div>
  );
}
