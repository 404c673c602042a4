//! A list, one item per row. Enter adds one, Backspace in an empty one removes it, Alt with an arrow moves
//! it.

import { useId, useLayoutEffect, useRef, type ClipboardEvent, type KeyboardEvent } from "react";
import { t } from "../../core/texts";
import type { Json } from "../../graph/document";
import { Icon } from "../../editor/icon";
import type { Kind } from "../schema/kinds";
import type { ControlParts } from "./control";
import { Element, isLine } from "./element";
import { isFilled } from "./usual";

interface ListParts extends ControlParts {
  readonly item: Kind;
}

/** The value of a new item. */
export function emptyOf(kind: Kind): Json {
  if (kind.type === "variants" && kind.variants[0]) return emptyOf(kind.variants[0].kind);
  return kind.type === "object" || kind.type === "map" ? {} : kind.type === "list" ? [] : kind.type === "boolean" ? false : "";
}

export function ListField({ path, bound, ties, title, item, usual, placeholder, plain }: ListParts) {
  const base = useId();
  const wanted = useRef<number | null>(null);
  const items: readonly Json[] = Array.isArray(bound.value) ? bound.value : [];
  useLayoutEffect(() => {
    if (wanted.current !== null) document.getElementById(`${base}-${wanted.current}`)?.focus();
    wanted.current = null;
  });
  const change = (next: readonly Json[], focus: number) => {
    bound.seal();
    bound.set(next.length > 0 || isFilled(usual) ? next : undefined);
    bound.seal();
    wanted.current = next.length > 0 ? Math.max(0, Math.min(focus, next.length - 1)) : null;
  };
  const add = (at: number, ...added: Json[]) => { change(items.toSpliced(at, 0, ...added), at + added.length - 1); };
  const remove = (at: number) => { change(items.toSpliced(at, 1), at > 0 ? at - 1 : 0); };
  const move = (from: number, to: number) => {
    const moved = items[from];
    if (moved !== undefined && to >= 0 && to < items.length) change(items.toSpliced(from, 1).toSpliced(to, 0, moved), to);
  };
  const key = (event: KeyboardEvent, index: number) => {
    if (event.altKey && event.key === "ArrowUp") move(index, index - 1);
    else if (event.altKey && event.key === "ArrowDown") move(index, index + 1);
    else if (event.key === "Enter" && isLine(item)) add(index + 1, emptyOf(item));
    else if (event.key === "Backspace" && items[index] === "") remove(index);
    else return;
    event.preventDefault();
  };
  // Pasted lines become items.
  const paste = (event: ClipboardEvent, index: number) => {
    const lines = event.clipboardData.getData("text/plain").split(/\r?\n/).filter((line) => line !== "");
    if (lines.length < 2 || items[index] !== "") return;
    event.preventDefault();
    change(items.toSpliced(index, 1, ...lines), index + lines.length - 1);
  };
  return (
    <div className="rows">
      <ol className="rows-list">
        {items.map((_, index) => (
          <li key={index} className="rows-row">
            <Element id={`${base}-${index}`} path={[...path, index]} kind={item} title={t("form.element", { field: title, n: index + 1 })} placeholder={placeholder} plain={plain ?? false} onKeyDown={(event) => { key(event, index); }} onPaste={(event) => { paste(event, index); }} />
            {bound.readOnly ? null : (
              <span className="rows-actions">
                <RowButton icon="chevron-down" turned label={t("form.move-up", { n: index + 1 })} disabled={index === 0} act={() => { move(index, index - 1); }} />
                <RowButton icon="chevron-down" label={t("form.move-down", { n: index + 1 })} disabled={index === items.length - 1} act={() => { move(index, index + 1); }} />
                <RowButton icon="close" label={t("form.remove-element", { n: index + 1 })} act={() => { remove(index); }} />
              </span>
            )}
          </li>
        ))}
      </ol>
      {bound.readOnly ? null : (
        <button type="button" className="button small" id={ties.id} aria-describedby={ties.describedBy} onClick={() => { add(items.length, emptyOf(item)); }}>
          <Icon name="plus" />{t("form.add-element")}<span className="visually-hidden">: {title}</span>
        </button>
      )}
      {items.length === 0 && placeholder ? <span className="faint small rows-hint">{t("form.example", { text: placeholder })}</span> : null}
    </div>
  );
}

function RowButton({ icon, label, turned = false, disabled = false, act }: { icon: string; label: string; turned?: boolean; disabled?: boolean; act: () => void }) {
  return <button type="button" className={`button quiet small icon-only${turned ? " turned" : ""}`} aria-label={label} title={label} disabled={disabled} onClick={act}><Icon name={icon} /></button>;
}
