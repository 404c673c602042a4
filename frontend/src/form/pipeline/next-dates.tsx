//! The next dates of the schedule that is being edited, as the server computes them.

import { useEffect, useId, useState } from "react";
import { request } from "../../api/client";
import type { Schema } from "../../api/typed";
import { language, t } from "../../core/texts";
import type { JsonObject } from "../../graph/document";
import { useForm } from "../context";
import { browserZone } from "../zones";
import { offsetsDiffer, ownTime, zoneTime } from "./local-time";

type Preview = Schema<"SchedulePreviewView">;

/** The delay after the last change before a request, in milliseconds. */
const PAUSE = 400;

/** The dates, in the schedule's time zone and in the reader's. Their place has a fixed height. */
export function NextDates({ schedule }: { schedule: JsonObject }) {
  const id = useId();
  const preview = usePreview(schedule);
  return (
    <div className="schedule-dates" role="group" aria-labelledby={id}>
      <h4 id={id}>{t("form.next-dates")}</h4>
      {preview === null ? null : preview.problems.length > 0 ? <p className="field-help">{t("form.next-wrong")}</p>
        : preview.next.length === 0 ? <p className="field-help">{t("form.next-none")}</p>
        : <Dates preview={preview} id={id} />}
      {schedule["paused"] === true ? <p className="field-help">{t("form.next-paused")}</p> : null}
    </div>
  );
}

function Dates({ preview, id }: { preview: Preview; id: string }) {
  const exact = offsetsDiffer(preview.next);
  const rows = preview.next.map(({ date, local }) => ({ date, there: zoneTime(local, language(), exact), here: ownTime(new Date(date), language(), exact) }));
  // Zones with other names may have the same times.
  const both = rows.some(({ there, here }) => there !== here);
  return (
    <table aria-labelledby={id}>
      <thead>
        <tr><th scope="col">{preview.timezone}</th>{both ? <th scope="col">{t("form.own-time", { zone: browserZone() })}</th> : null}</tr>
      </thead>
      <tbody>
        {rows.map(({ date, there, here }) => <tr key={date}><td>{there}</td>{both ? <td>{here}</td> : null}</tr>)}
      </tbody>
    </table>
  );
}

/** The latest answer. It stays until the next one, so that nothing flickers while somebody types. */
function usePreview(schedule: JsonObject): Preview | null {
  const { knowledge: { project } } = useForm();
  const [preview, setPreview] = useState<Preview | null>(null);
  useEffect(() => {
    const asked = new AbortController();
    const ask = async () => {
      try {
        const { data } = await request("POST", `/projects/${project}/schedule-preview`, { schedule }, { signal: asked.signal });
        if (!asked.signal.aborted) setPreview(data);
      } catch {
        // The next change asks again; saving reports connection errors.
      }
    };
    const timer = setTimeout(() => void ask(), preview === null ? 0 : PAUSE);
    return () => {
      clearTimeout(timer);
      asked.abort();
    };
    // Every change of the document yields new objects.
  }, [project, JSON.stringify(schedule)]);
  return preview;
}
