//! What is needed seldom: behind a button, unless something of it is set.

import { useEffect, useRef, useState, type ReactNode } from "react";
import { Icon } from "../../editor/icon";

/** `label` says what is behind it; `open` shows it at once. */
export function More({ label, open, children }: { label: string; open: boolean; children: ReactNode }) {
  const [wanted, setWanted] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  // The button goes: who pressed it goes on with the first field.
  useEffect(() => { if (wanted) box.current?.querySelector<HTMLElement>("input, select, button")?.focus(); }, [wanted]);
  if (open || wanted) return <div className="form-group" ref={box}>{children}</div>;
  return <button type="button" className="button quiet small form-more" onClick={() => { setWanted(true); }}><Icon name="more" />{label}</button>;
}
