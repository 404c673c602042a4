//! Everything above the drawing: the palette at its side, bars, and the open overlay.

import { useEffect, useState } from "react";
import { t } from "../../core/texts";
import { Icon } from "../../editor/icon";
import { useEditor } from "../../editor/store";
import { useStage } from "../context";
import { useUi } from "../ui";
import { Palette } from "./palette";

type Opened = typeof import("./opened");

// Overlays are preloaded once the canvas is shown. They are not lazy components: those would render well
// after their code has loaded, and keys typed meanwhile would go elsewhere.
function useOpened(): Opened | null {
  const [opened, setOpened] = useState<Opened | null>(null);
  useEffect(() => { void import("./opened").then(setOpened); }, []);
  return opened;
}

export function Over() {
  const stage = useStage();
  const opened = useOpened();
  const open = useUi(stage.ui, (state) => state.open);
  const hint = useUi(stage.ui, (state) => state.hint);
  const layingOut = useUi(stage.ui, (state) => state.layingOut);
  const empty = useEditor(stage.store, (state) => state.document.tasks.length === 0 && !state.document.canvas?.notes);
  return (
    <>
      {opened ? <opened.SelectionBar /> : null}
      {empty ? <Empty /> : null}
      {hint === null ? null : <p className="cv-why"><Icon name="info" />{hint}</p>}
      {layingOut ? <LayingOut /> : null}
      {open && opened ? <opened.Opened open={open} /> : null}
    </>
  );
}

/** A layout is running; the user need not wait for it. */
function LayingOut() {
  const stage = useStage();
  const cancel = () => {
    stage.layouts.cancel();
    stage.root?.focus();
  };
  return (
    <div className="cv-busy">
      <span className="spinner" />
      <span role="status">{t("canvas.laying-out")}</span>
      <button className="button quiet small" type="button" title="Esc" onClick={cancel}>{t("common.cancel")}</button>
    </div>
  );
}

function Empty() {
  return (
    <div className="cv-empty">
      <h2>{t("canvas.empty-title")}</h2>
      <p>{matchMedia("(pointer: coarse)").matches ? t("canvas.empty-touch") : t("canvas.empty-text")}</p>
    </div>
  );
}

const KEPT = "cubeloom.palette";

/** The palette with its button. On a narrow screen it is a sheet, initially closed. */
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
