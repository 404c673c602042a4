//! A nested object: its members, slightly indented.

import { Field } from "./field";
import type { ControlParts } from "./control";
import type { Field as Member } from "../schema/kinds";

interface ObjectParts extends ControlParts {
  readonly fields: readonly Member[];
}

export function ObjectField({ path, fields, plain }: ObjectParts) {
  return (
    <div className="form-nested">
      {fields.map((field) => (
        <Field
          key={field.name} path={[...path, field.name]} kind={field.kind} title={field.title} help={field.help} required={field.required}
          usual={field.default} placeholder={field.placeholder} plain={plain ?? false}
        />
      ))}
    </div>
  );
}
