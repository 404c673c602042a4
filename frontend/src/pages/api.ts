//! The search of the API reference.

import { all, need } from "../core/dom";
import { onKeys } from "../core/keys";
import { t } from "../core/texts";

export function start(): void {
  const input = need<HTMLInputElement>("#api-search");
  input.addEventListener("input", () => { show(input.value); });
  // The browser may have restored the search text of the last visit.
  if (input.value) show(input.value);
  onKeys({ "/": () => { input.focus(); } });
}

function show(text: string): void {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  let found = 0;
  for (const section of all("#api-list > section")) {
    let here = 0;
    for (const row of all(".api-row", section)) {
      const content = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => content.includes(word));
      if (!row.hidden) here += 1;
    }
    section.hidden = here === 0;
    found += here;
  }
  need("#api-none").hidden = found > 0;
  need("#api-found").textContent = words.length > 0 ? t("api.found", { n: found }) : "";
}
