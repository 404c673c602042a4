//! A template's parameters as the form reads them.

import type { TemplateInfo } from "../../editor/templates";
import type { ParameterSchema } from "./read";

/** The schema. The server has checked that it says nothing else: see its lint of templates. */
export function schemaOf(template: TemplateInfo): ParameterSchema {
  return template.parameters as ParameterSchema;
}
