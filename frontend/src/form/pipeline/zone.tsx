//! The time zone of a schedule, chosen from all zones.

import { useId, useState } from "react";
import { t } from "../../core/texts";
import { useBound } from "../context";
import { shown } from "../draft";
import { Frame } from "../fields/frame";
import { Picker } from "../fields/picker";
import { browserZone, zonesFrom } from "../zones";

/** The field. `usual` is the zone while the document names none. */
export function ZoneField({ usual }: { usual: string }) {
  const id = useId();
  const title = t("form.timezone");
  const bound = useBound(["schedule", "timezone"], title);
  const [own] = useState(browserZone);
  const [zones] = useState(() => zonesFrom(own));
  const pick = (zone: string) => {
    bound.seal();
    bound.set(zone);
    bound.seal();
  };
  return (
    <Frame id={id} pointer={bound.pointer} title={title}>
      {(ties) => (
        <Picker
          id={ties.id} describedBy={ties.describedBy} invalid={ties.invalid} readOnly={bound.readOnly} options={zones} most={zones.length} free placeholder={usual}
          value={bound.value === undefined ? usual : shown(bound.value)} noteOf={(zone) => (zone === own ? t("form.zone-browser") : "")} pick={pick}
        />
      )}
    </Frame>
  );
}
