//! The template catalogue: an administrator installs a template from its document, or from an archive of its
//! folder.

import { request } from "../api/client";
import { need } from "../core/dom";
import { busy, trying } from "../core/form";
import { t } from "../core/texts";
import { toastLater } from "../core/toast";

export function start(): void {
  const button = document.querySelector<HTMLButtonElement>("#install");
  if (button === null) return;
  const chosen = need<HTMLInputElement>("#install-file");
  button.addEventListener("click", () => { chosen.click(); });
  chosen.addEventListener("change", () => {
    const file = chosen.files?.[0];
    if (file) void busy(button, () => trying(() => install(file)));
    chosen.value = "";
  });
}

async function install(file: File): Promise<void> {
  const isArchive = /\.(tar\.gz|tgz)$/i.test(file.name);
  const sent = isArchive ? new Blob([file], { type: "application/gzip" }) : { document: await file.text() };
  const { data } = await request("POST", "/templates", sent);
  toastLater(t("templates.installed", { name: data.name }));
  location.assign(`/templates/${data.name}`);
}
