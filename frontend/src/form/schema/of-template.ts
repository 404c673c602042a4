//! A template's parameters as the form reads them.

import type { FormTemplate } from "../knowledge";
import type { ParameterSchema } from "./read";

/** The schema. The server has checked that it says nothing else: see its lint of templates. */
export function schemaOf(template: FormTemplate): ParameterSchema {
  return template.parameters;
}
