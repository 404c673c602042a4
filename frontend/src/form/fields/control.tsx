//! The control of each kind of value, without a label.

import { t } from "../../core/texts";
import type { Json } from "../../graph/document";
import { useForm, type Bound } from "../context";
import { readNumber, readScalar, readText, shown, useDraft } from "../draft";
import type { Path } from "../../graph/edit";
import type { Kind } from "../schema/kinds";
import { CodeField } from "./code";
import { BooleanField, ChoiceField } from "./choice";
import { FileField } from "./file";
import type { Ties } from "./frame";
import { ListField } from "./list";
import { MapField } from "./map";
import { ObjectField } from "./object";
import { TextField } from "./text";
import { isFilled, UsualValue } from "./usual";
import { VariantsField } from "./variants";
import { YamlField } from "./yaml";

export interface ControlParts {
  readonly path: Path;
  readonly kind: Kind;
  readonly bound: Bound;
  readonly ties: Ties;
  /** Its name; inside of a list there is no other label. */
  readonly title: string;
  readonly labelled?: boolean;
  readonly usual?: Json | undefined;
  readonly placeholder: string;
  readonly plain?: boolean;
}

export function Control(parts: ControlParts) {
  const { kind, bound } = parts;
  if (bound.mixed && ["list", "map", "object", "variants", "code", "yaml"].includes(kind.type)) return <p className="muted small">{t("form.mixed")}</p>;
  const whole = ["list", "map", "object", "variants"].includes(kind.type);
  if (whole && bound.value === undefined && isFilled(parts.usual)) return <UsualValue {...parts} usual={parts.usual} />;
  switch (kind.type) {
    case "text":
    case "pipeline":
    case "scalar":
    case "priority":
    case "number":
      return <LineField {...parts} />;
    case "file":
      return <FileField {...parts} />;
    case "code":
      return <CodeField {...parts} />;
    case "boolean":
      return <BooleanField {...parts} />;
    case "choice":
      return <ChoiceField {...parts} options={kind.options} />;
    case "list":
      return <ListField {...parts} item={kind.item} placeholder={kind.placeholder || parts.placeholder} />;
    case "map":
      return <MapField {...parts} kind={kind.value} />;
    case "object":
      return <ObjectField {...parts} fields={kind.fields} />;
    case "variants":
      return <VariantsField {...parts} variants={kind.variants} />;
    case "yaml":
      return <YamlField {...parts} />;
  }
}

const READ: Partial<Record<Kind["type"], (text: string) => Json | undefined>> = {
  number: readNumber,
  priority: readNumber,
  scalar: (text) => (text === "" ? undefined : readScalar(text)),
};

function LineField({ path, kind, bound, ties, title, labelled, placeholder, plain }: ControlParts) {
  const { knowledge } = useForm();
  const draft = useDraft(bound, READ[kind.type] ?? readText, shown);
  const names = kind.type === "pipeline" ? knowledge.pipelines : kind.type === "priority" ? knowledge.priorities : undefined;
  const inputMode = kind.type === "number" ? (kind.integer ? "numeric" : "decimal") : undefined;
  return (
    <TextField
      id={ties.id} text={draft.text} onText={draft.change} onLeave={draft.leave} label={labelled ? title : undefined}
      describedBy={ties.describedBy} invalid={ties.invalid} readOnly={bound.readOnly} inputMode={inputMode}
      placeholder={bound.mixed ? t("form.mixed") : bound.value === undefined || bound.value === null ? placeholder : ""}
      long={kind.type === "text" && kind.long} path={plain && !names ? undefined : path} names={names}
    />
  );
}
