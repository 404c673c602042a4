//! Fields for files: what was chosen is said in our words.

/** Makes every such field of the page say the name of its file. */
export function watchFiles(): void {
  document.addEventListener("change", (event) => {
    const input = event.target;
    if (!(input instanceof HTMLInputElement) || input.type !== "file") return;
    const name = input.parentElement?.querySelector<HTMLElement>(".file-name");
    if (name) name.textContent = input.files?.[0]?.name ?? name.dataset["none"] ?? "";
  });
}
