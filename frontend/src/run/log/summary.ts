// What a search says of its matches.

import { t } from "../../core/texts";

/** The state of a search. */
export interface Summary {
  /** The number of matches so far. */
  readonly count: number;
  /** The number of the chosen one; 0 if there is none. */
  readonly place: number;
  /** Whether the server is searching. */
  readonly isBusy: boolean;
  /** Whether the server has searched a part only. */
  readonly isPartial: boolean;
  /** Whether the input is an invalid regular expression. */
  readonly isBad: boolean;
  /** Whether something is searched for. */
  readonly isOn: boolean;
  /** Whether lines that look like errors are searched for. */
  readonly forErrors: boolean;
}

/** The number of matches, as far as it is known. */
export function summaryOf({ count, place, isBusy, isPartial, isBad, isOn, forErrors }: Summary): string {
  const [n, at] = [count.toLocaleString(), place.toLocaleString()];
  if (isBad) return t("run.log-bad-pattern");
  if (!isOn) return "";
  if (isBusy) return count === 0 ? t("run.log-searching") : t("run.log-count-so-far", { n });
  if (isPartial) return place === 0 ? t("run.log-count-least", { n }) : t("run.log-found-least", { at, n });
  if (count === 0) return forErrors ? t("run.log-no-errors") : t("run.log-found-none");
  return place === 0 ? t("run.log-count", { n }) : t("run.log-found", { at, n });
}
