// Dialogs, and the page's messages about their results.

/** The open dialog, optionally with this title. */
export const dialog = (page, name) => page.getByRole("dialog", name === undefined ? {} : { name });

/** Presses a button of the open dialog. */
export const press = (page, button) => dialog(page).getByRole("button", { name: button, exact: true }).click();

/** Fills fields by their labels: types strings, and sets checkboxes to `true` or `false`. */
export async function fill(form, values) {
  for (const [label, value] of Object.entries(values)) {
    // A checkbox's label includes its help.
    if (typeof value === "boolean") {
      await form.getByLabel(label).setChecked(value);
      continue;
    }
    const field = form.getByLabel(label, { exact: true });
    if ((await field.evaluate((one) => one.tagName)) === "SELECT") await field.selectOption(value);
    else await field.fill(value);
  }
}

/** Waits for this toast. */
export const told = (page, words) => page.locator(".toast", { hasText: words }).waitFor();

/** Performs an action that reloads the page, and waits for the reload. */
export async function anew(page, act) {
  await page.evaluate(() => { window.isOld = true; });
  await act();
  await page.waitForFunction(() => !window.isOld && document.documentElement.dataset.ready !== undefined);
}

/** The error at a field of a form that sends JSON. */
export const mistake = (form, field) => form.locator(`[data-field="${field}"] .field-error`);

/** The secret that a dialog shows once. */
export const shownOnce = (page, title) => dialog(page, title).locator("pre code").innerText();

/** Removes the browser's console messages about expected error statuses. */
export function refused(page, ...statuses) {
  page.faults = page.faults.filter((fault) => !statuses.some((status) => fault.includes(`the server responded with a status of ${status}`)));
}
