//! Everything that lies over the drawing: the palette at its side, bars, and what is open.

import { useState } from "react";
import { t } from "../../core/texts";
import { Icon } from "../../editor/icon";
import { useEditor } from "../../editor/store";
import { useStage } from "../context";
import { useUi } from "../ui";
import { CommandList } from "./command-list";
import { Menu } from "./menu";
import { Palette } from "./palette";
import { QuickAdd } from "./quick-add";
import { SelectionBar } from "./selection-bar";
import { Shortcuts } from "./shortcuts";

/** All of it. */
export function Over() {
  const stage = useStage();
  const open = useUi(stage.ui, (state) => state.open);
  const layingOut = useUi(stage.ui, (state) => state.layingOut);
  const empty = useEditor(stage.store, (state) => state.document.tasks.length === 0 && !state.document.canvas?.notes);
  return (
    <>
      <SelectionBar />
      {empty ? <Empty /> : null}
      {layingOut ? <p className="cv-busy" role="status"><span className="spinner" />{t("canvas.laying-out")}</p> : null}
      {open?.kind === "add" ? <QuickAdd open={open} /> : null}
      {open?.kind === "commands" ? <CommandList /> : null}
      {open?.kind === "shortcuts" ? <Shortcuts /> : null}
      {open?.kind === "menu" ? <Menu at={open.at} /> : null}
    </>
  );
}

function Empty() {
  return (
    <div className="cv-empty">
      <h2>{t("canvas.empty-title")}</h2>
      <p>{t("canvas.empty-text")}</p>
    </div>
  );
}

const KEPT = "cubeloom.palette";

/** The palette with its button. On a narrow screen it is a sheet that is closed at first. */
export function Side() {
  const stage = useStage();
  const locked = useEditor(stage.store, (state) => state.readOnly);
  const [shown, setShown] = useState(() => innerWidth > 900 && localStorage.getItem(KEPT) !== "closed");
  if (locked) return null;
  const show = (next: boolean) => {
    setShown(next);
    if (innerWidth > 900) localStorage.setItem(KEPT, next ? "open" : "closed");
  };
  const title = shown ? t("canvas.palette-hide") : t("canvas.palette-show");
  return (
    <div className="cv-side" data-shown={shown || undefined}>
      <button className="button cv-side-toggle" type="button" aria-expanded={shown} aria-label={title} title={title} onClick={() => { show(!shown); }}>
        <Icon name={shown ? "close" : "plus"} />
      </button>
      {shown ? <Palette onUsed={() => { if (innerWidth <= 900) setShown(false); }} /> : null}
    </div>
  );
}
