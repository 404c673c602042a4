// User actions in the editor.

/** The loaded editor. */
export async function openEditor(site, as, path, options = {}) {
  const page = await site.open({ as, ...options });
  await page.goto(path);
  await ready(page);
  return page;
}

/** Waits until templates and form are loaded. */
export async function ready(page) {
  await page.locator("html[data-ready]").waitFor({ state: "attached" });
  await page.locator(".cv-stage").waitFor();
  await page.locator(".ed-actions summary").first().waitFor();
  // Not every user has the palette; its templates load together with those that nodes and forms name.
  if ((await page.locator(".cv-palette").count()) > 0) await page.locator("[data-template]").first().waitFor();
}

export const node = (page, task) => page.locator(`#task-${task}`);
export const field = (page, pointer) => page.locator(`.ed-right [data-pointer="${pointer}"]`);
export const problems = (page, kind) => page.locator(`.ed-problems summary[data-kind=${kind}]`);

/** Drags a template from the palette to a point of the canvas. */
export async function dragTemplate(page, template, x, y) {
  const room = await page.locator(".cv-stage").boundingBox();
  await page.locator(`[data-template=${template}]`).hover();
  await page.mouse.down();
  await page.mouse.move(room.x + x - 20, room.y + y - 20, { steps: 4 });
  await page.mouse.move(room.x + x, room.y + y, { steps: 4 });
  await page.mouse.up();
}

/** Drags from a task's output port to another task. */
export async function connect(page, from, to) {
  const port = await node(page, from).locator(".cv-port[data-side=out]").boundingBox();
  const target = await node(page, to).boundingBox();
  await page.mouse.move(port.x + port.width / 2, port.y + port.height / 2);
  await page.mouse.down();
  await page.mouse.move(target.x + 40, target.y + target.height / 2 + 4, { steps: 6 });
  await page.mouse.move(target.x + 30, target.y + target.height / 2, { steps: 2 });
  await page.mouse.up();
}

/** Fills a list field, one item each. */
export async function fillList(page, pointer, words) {
  await field(page, pointer).getByRole("button", { name: /^Add/ }).click();
  for (const [at, word] of words.entries()) {
    if (at > 0) await page.keyboard.press("Enter");
    await page.keyboard.type(word);
  }
}

/** Enters a message in the save dialog. */
export async function answerMessage(page, message) {
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox").fill(message);
  await page.keyboard.press("Enter");
}

/** Saves with a message. */
export async function save(page, message) {
  await page.keyboard.press("Control+s");
  await answerMessage(page, message);
  await page.locator(".ed-saved:not([data-dirty])").waitFor({ state: "attached" });
}
