//! Drags a template out of the palette, by pointer events, so that touch works, too.

import type { TemplateInfo } from "../../editor/templates";
import { h } from "../../core/dom";
import { local } from "../../api/knowledge";
import { addTemplate, edgeFor, ghostAt } from "../adding";
import type { Stage } from "../stage";

/** The movement tolerance of a click, in screen pixels. */
const STILL = 5;

/** Follows the pointer until it is released. */
export function dragTemplate(stage: Stage, template: TemplateInfo, press: PointerEvent, onUsed: () => void): void {
  if (press.button !== 0 || stage.readOnly) return;
  const item = press.currentTarget instanceof HTMLElement ? press.currentTarget : null;
  delete item?.dataset["dragged"];
  let label: HTMLElement | null = null;
  const ends = new AbortController();
  const options = { signal: ends.signal };
  const end = () => {
    ends.abort();
    label?.remove();
    stage.hovered = null;
    stage.show({});
  };
  const move = (event: PointerEvent) => {
    if (!label && Math.hypot(event.clientX - press.clientX, event.clientY - press.clientY) < STILL) return;
    label ??= begin(template);
    label.style.transform = `translate(${event.clientX + 12}px,${event.clientY + 12}px)`;
    const over = isOver(stage, event);
    label.hidden = over;
    const at = stage.point(event);
    stage.hovered = over ? edgeFor(stage, at) : null;
    stage.show(over ? { ghost: ghostAt(at) } : {});
  };
  const drop = (event: PointerEvent) => {
    const [dragged, edge] = [label !== null, stage.hovered];
    const over = isOver(stage, event);
    end();
    // The click after a drag adds nothing.
    if (dragged && item) item.dataset["dragged"] = "";
    if (!dragged || !over) return;
    addTemplate(stage, template, { at: stage.point(event), edge });
    stage.root?.focus();
    onUsed();
  };
  addEventListener("pointermove", move, options);
  addEventListener("pointerup", drop, options);
  addEventListener("pointercancel", end, options);
  addEventListener("keydown", (event) => { if (event.key === "Escape") end(); }, options);
}

function begin(template: TemplateInfo): HTMLElement {
  const label = h("div", { class: "cv-dragged" }, local(template.label));
  document.body.append(label);
  return label;
}

function isOver(stage: Stage, event: PointerEvent): boolean {
  const below = document.elementFromPoint(event.clientX, event.clientY);
  return below !== null && (stage.root?.contains(below) ?? false);
}
