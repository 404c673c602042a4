//! Rarely needed actions: documents as files.

import { trying } from "../core/form";
import { t } from "../core/texts";
import { useCell } from "./cell";
import { LOOKS } from "./bar";
import { Icon } from "./icon";
import { closeMenu } from "./run-menu";
import type { Session } from "./session";
import { askFile, download } from "./transfer";

export function MoreMenu({ session }: { session: Session }) {
  const stored = useCell(session.cell, (state) => state.stored);
  const item = (icon: string, word: string, act: () => void) => (
    <button className="menu-item" type="button" onClick={(event) => { closeMenu(event.currentTarget); act(); }}><Icon name={icon} />{word}</button>
  );
  return (
    <details className="menu end" data-menu>
      <summary className="button quiet icon-only" aria-label={t("editor.more")} title={t("editor.more")}><Icon name="more" /></summary>
      <div className="menu-panel">
        <div className="ed-narrow">
          {LOOKS.filter(([look]) => look !== "split").map(([look, word]) => <div key={look}>{item(look === "text" ? "code" : "pipeline", t(word), () => { session.cell.set({ look }); })}</div>)}
          <div className="menu-split" />
        </div>
        {session.readOnly ? null : item("upload", t("editor.import"), () => { askFile(session); })}
        {item("download", t("editor.export-yaml"), () => void trying(() => download(session, "yaml")))}
        {item("download", t("editor.export-json"), () => void trying(() => download(session, "json")))}
        {stored ? item("download", t("editor.export-argo"), () => void trying(async () => { await (await import("./argo")).exportArgo(session); })) : null}
        {stored ? <a className="menu-item" href={`/projects/${session.project}/pipelines/${stored.pipeline}?tab=versions`}><Icon name="compare" />{t("editor.compare-text")}</a> : null}
      </div>
    </details>
  );
}
