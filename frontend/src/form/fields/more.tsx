//! Rarely needed fields: behind a button, unless one of them is set.

import { useEffect, useRef, useState, type ReactNode } from "react";
import { Icon } from "../../editor/icon";

/** `label` is the button's; `open` shows the fields at once. */
export function More({ label, open, children }: { label: string; open: boolean; children: ReactNode }) {
  const [wanted, setWanted] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  // The button disappears: the focus moves to the first field.
  useEffect(() => { if (wanted) box.current?.querySelector<HTMLElement>("input, select, button")?.focus(); }, [wanted]);
  if (open || wanted) return <div className="form-group" ref={box}>{children}</div>;
  return <button type="button" className="button quiet small form-more" onClick={() => { setWanted(true); }}><Icon name="more" />{label}</button>;
}
