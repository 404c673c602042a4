//! File inputs with localized labels.

/** Makes every file input of the page show its file's name. */
export function watchFiles(): void {
  document.addEventListener("change", (event) => {
    const input = event.target;
    if (!(input instanceof HTMLInputElement) || input.type !== "file") return;
    const name = input.parentElement?.querySelector<HTMLElement>(".file-name");
    if (name) name.textContent = input.files?.[0]?.name ?? name.dataset["none"] ?? "";
  });
}
