//! The history: every save is a version; the canvas shows the differences from the selected one.

import { useEffect, useState } from "react";
import { trying } from "../core/form";
import { language, t } from "../core/texts";
import { exact, relative } from "../core/time";
import { useCell } from "./cell";
import { Changes } from "./changes";
import type { Session } from "./session";
import { listVersions, readVersion, restore, type VersionInfo, type VersionPage } from "./versions";

export function VersionsPanel({ session }: { session: Session }) {
  const stored = useCell(session.cell, (state) => state.stored);
  const [page, setPage] = useState<VersionPage | null>(null);
  useEffect(() => {
    if (stored) void trying(async () => { setPage(await listVersions(session)); });
  }, [session, stored]);
  const more = () =>
    void trying(async () => {
      const next = await listVersions(session, page?.next_cursor);
      setPage({ ...next, items: [...(page?.items ?? []), ...next.items] });
    });
  if (!stored) return <p className="muted ed-panel-note">{t("editor.no-versions")}</p>;
  return (
    <div className="ed-versions">
      <p className="muted small">{t("editor.versions-hint")}</p>
      <ol aria-label={t("editor.versions")} aria-busy={page === null || undefined}>
        {page?.items.map((version) => <Version key={version.version} session={session} version={version} present={stored.version} />)}
      </ol>
      {page?.next_cursor === undefined ? null : <button className="button small" type="button" onClick={more}>{t("common.next-page")}</button>}
    </div>
  );
}

function Version({ session, version, present }: { session: Session; version: VersionInfo; present: number }) {
  const chosen = useCell(session.cell, (state) => (state.chosen?.version === version.version ? state.chosen : null));
  const choose = () => {
    if (chosen) {
      session.store.set({ against: null });
      session.cell.set({ chosen: null });
      return;
    }
    void trying(async () => {
      const read = await readVersion(session, version.version);
      session.store.set({ against: read.document });
      session.cell.set({ chosen: read });
    });
  };
  const when = new Date(version.created_at);
  return (
    <li className="ed-version" data-chosen={chosen !== null || undefined}>
      <button className="ed-version-head" type="button" aria-pressed={chosen !== null} onClick={choose}>
        <span className="ed-version-number">{t("editor.version", { version: version.version })}{version.version === present ? <span className="tag">{t("editor.version-present")}</span> : null}</span>
        <span className="ed-version-message">{version.message || <span className="faint">{t("editor.no-message")}</span>}</span>
        <span className="muted small" title={exact(when, language())}>{version.user} · {relative((when.getTime() - Date.now()) / 1000)}</span>
      </button>
      {chosen ? <Changes session={session} before={chosen.document} /> : null}
      {chosen && !session.readOnly ? (
        <div className="row">
          <button className="button small" type="button" onClick={() => { restore(session, chosen); }}>{t("editor.restore")}</button>
        </div>
      ) : null}
    </li>
  );
}
