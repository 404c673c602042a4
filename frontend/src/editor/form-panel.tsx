//! The form, with what the page knows.

import { Form } from "../form/form";
import { useCell } from "./cell";
import type { Session } from "./session";

/** The form of what is selected. */
export function FormPanel({ session }: { session: Session }) {
  const { templates, places, secrets, volumes } = useCell(session.cell, (state) => state.surroundings);
  const stored = useCell(session.cell, (state) => state.stored !== null);
  const knowledge = { project: session.project, secrets, volumes, code: session.code, stored };
  return <Form store={session.store} templates={templates} knowledge={knowledge} places={places} />;
}
