// Forms that choose what a page shows: a choice is taken as soon as it is made.

/** Makes fields with `data-submit` send their form. */
export function watchChoices(): void {
  document.addEventListener("change", (event) => {
    const field = event.target;
    if (field instanceof HTMLSelectElement || field instanceof HTMLInputElement) {
      if (field.dataset["submit"] !== undefined) field.form?.requestSubmit();
    }
  });
}
