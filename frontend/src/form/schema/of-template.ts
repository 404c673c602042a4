//! A template's parameters, typed for the form.

import type { TemplateInfo } from "../../editor/templates";
import type { ParameterSchema } from "./read";

/** The schema. The server's template lint guarantees this structure. */
export function schemaOf(template: TemplateInfo): ParameterSchema {
  return template.parameters as ParameterSchema;
}
