//! The template of a task in the task's version: the newest is known, older ones are loaded once.

import { useEffect, useState } from "react";
import { request } from "../api/client";
import { templateOfTask, type TemplateInfo, type Templates } from "../editor/templates";
import type { Task } from "../graph/document";
import { inLanguage } from "../api/knowledge";
import { reference } from "./task/template-of";

const asked = new Map<string, Promise<TemplateInfo>>();

function ask(name: string, version: string): Promise<TemplateInfo> {
  const id = `${name}@${version}`;
  const before = asked.get(id);
  if (before) return before;
  const coming = request("GET", `/templates/${encodeURIComponent(name)}/versions/${encodeURIComponent(version)}`).then(({ data }) => {
    const template = data as TemplateInfo;
    return { ...template, version, parameters: inLanguage(template.parameters) };
  });
  asked.set(id, coming);
  // A later request retries.
  coming.catch(() => { asked.delete(id); });
  return coming;
}

/**
 * The template of a task in its version; `loading` while an older one is being loaded. A missing version is
 * `undefined`.
 */
export function useTemplate(templates: Templates, task: Task | undefined): { template: TemplateInfo | undefined; loading: boolean } {
  const [older, setOlder] = useState<{ id: string; template: TemplateInfo | undefined } | null>(null);
  const newest = task && templateOfTask(templates, task);
  const { name, version } = reference(task?.template ?? "");
  const wanted = newest && version !== "" && version !== newest.version ? `${name}@${version}` : "";
  useEffect(() => {
    if (wanted === "") return;
    let gone = false;
    const take = (template: TemplateInfo | undefined) => { if (!gone) setOlder({ id: wanted, template }); };
    ask(name, version).then(take, () => { take(undefined); });
    return () => { gone = true; };
  }, [wanted, name, version]);
  if (wanted === "") return { template: newest, loading: false };
  return older?.id === wanted ? { template: older.template, loading: false } : { template: undefined, loading: true };
}
