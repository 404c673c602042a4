// Forms that control a page's content: a choice applies at once.

/** Makes fields with `data-submit` submit their form. */
export function watchChoices(): void {
  document.addEventListener("change", (event) => {
    const field = event.target;
    if (field instanceof HTMLSelectElement || field instanceof HTMLInputElement) {
      if (field.dataset["submit"] !== undefined) field.form?.requestSubmit();
    }
  });
}
