//! The palette: templates by group with a search. Drag them onto the canvas, or add them by a click or Enter.

import { useState, type CSSProperties } from "react";
import { t } from "../../core/texts";
import { Icon } from "../../editor/icon";
import type { TemplateInfo } from "../../editor/templates";
import { local } from "../../api/knowledge";
import { addTemplate } from "../adding";
import { onlyTask } from "../commands/refusals";
import { useStage } from "../context";
import { groupColour, groupIcon } from "../groups";
import { useUi } from "../ui";
import { dragTemplate } from "./drag-template";
import { grouped, groupName } from "./palette-list";

/** `onUsed` is called when a template was added. */
export function Palette({ onUsed }: { onUsed: () => void }) {
  const stage = useStage();
  const templates = useUi(stage.ui, (state) => state.templates);
  const [typed, setTyped] = useState("");
  const groups = grouped(templates)
    .map(([group, all]) => [group, all.filter((one) => matches(one, typed))] as const)
    .filter(([, some]) => some.length > 0);
  return (
    <nav className="cv-palette" aria-label={t("canvas.palette")}>
      <input
        className="input"
        type="search"
        aria-label={t("canvas.search-templates")}
        placeholder={t("canvas.search-templates")}
        value={typed}
        onChange={(event) => { setTyped(event.currentTarget.value); }}
        onKeyDown={(event) => {
          const first = groups[0]?.[1][0];
          if (event.key !== "Enter" || !first || event.nativeEvent.isComposing) return;
          event.preventDefault();
          addTemplate(stage, first, { after: onlyTask(stage) });
          onUsed();
        }}
      />
      <div className="cv-palette-list">
        {groups.map(([group, some]) => (
          <section key={group}>
            <h3>{groupName(group)}</h3>
            {some.map((one) => <Item key={one.name} template={one} onUsed={onUsed} />)}
          </section>
        ))}
        {groups.length === 0 && templates.size > 0 ? <p className="pick-none">{t("canvas.nothing-found")}</p> : null}
      </div>
    </nav>
  );
}

function Item({ template, onUsed }: { template: TemplateInfo; onUsed: () => void }) {
  const stage = useStage();
  const colour = { "--group": `var(--${groupColour(template)})` } as CSSProperties;
  const [first = ""] = local(template.help).trim().split(/\n\s*\n/);
  return (
    <button
      className="cv-palette-item"
      type="button"
      style={colour}
      title={first.replaceAll("`", "")}
      data-template={template.name}
      onPointerDown={(event) => { dragTemplate(stage, template, event.nativeEvent, onUsed); }}
      onClick={({ currentTarget }) => {
        if (currentTarget.dataset["dragged"] !== undefined) return;
        addTemplate(stage, template, { after: onlyTask(stage) });
        onUsed();
      }}
    >
      <span className="cv-task-sign"><Icon name={groupIcon(template)} /></span>
      <span className="clip">{local(template.label)}</span>
    </button>
  );
}

function matches({ name, group, label }: TemplateInfo, typed: string): boolean {
  const text = `${name} ${group} ${label.en} ${label.zh}`.toLowerCase();
  return typed.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}
