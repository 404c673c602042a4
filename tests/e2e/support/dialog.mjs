// Dialogs, and what pages say of what was done in them.

/** The dialog that is open; with a title, that one. */
export const dialog = (page, name) => page.getByRole("dialog", name === undefined ? {} : { name });

/** Presses a button of the open dialog. */
export const press = (page, button) => dialog(page).getByRole("button", { name: button, exact: true }).click();

/** Fills fields by their labels: texts are written, `true` and `false` ticked. */
export async function fill(form, values) {
  for (const [label, value] of Object.entries(values)) {
    // The words of a box have its help behind them.
    if (typeof value === "boolean") {
      await form.getByLabel(label).setChecked(value);
      continue;
    }
    const field = form.getByLabel(label, { exact: true });
    if ((await field.evaluate((one) => one.tagName)) === "SELECT") await field.selectOption(value);
    else await field.fill(value);
  }
}

/** Waits until the page says so, at its edge. */
export const told = (page, words) => page.locator(".toast", { hasText: words }).waitFor();

/** Does something after which the page loads itself anew, and waits for that. */
export async function anew(page, act) {
  await page.evaluate(() => { window.isOld = true; });
  await act();
  await page.waitForFunction(() => !window.isOld && document.documentElement.dataset.ready !== undefined);
}

/** The mistake that is shown at a field of a form that sends JSON. */
export const mistake = (form, field) => form.locator(`[data-field="${field}"] .field-error`);

/** The secret that a dialog shows once. */
export const shownOnce = (page, title) => dialog(page, title).locator("pre code").innerText();

/** The browser notes each refusal of the server in its console: takes these away, of the statuses that were meant. */
export function refused(page, ...statuses) {
  page.faults = page.faults.filter((fault) => !statuses.some((status) => fault.includes(`the server responded with a status of ${status}`)));
}
