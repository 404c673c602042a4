//! A nested object: its members, set in a little.

import { Field } from "./field";
import type { ControlParts } from "./control";
import type { Field as Member } from "../schema/kinds";

interface ObjectParts extends ControlParts {
  readonly fields: readonly Member[];
}

/** The members of an object, each a field of its own. */
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
