// Advice for a task: loaded when its page is opened, and again while the task runs.

import { request } from "../api/client";
import { ApiProblem } from "../api/problem";
import { h, need } from "../core/dom";
import { t } from "../core/texts";
import { advised } from "../monitoring/advised";

/** The reload interval while the task runs, in seconds: rules evaluate many minutes of metrics. */
const AGAIN = 60;

const followed = new WeakSet<HTMLElement>();

/** Updates the page's advice section, once it exists. */
export function watchAdvice(): void {
  const box = document.querySelector<HTMLElement>("[data-advice]");
  if (box === null || followed.has(box)) return;
  followed.add(box);
  void follow(box);
}

/** Updates it until the section is removed, and when the instance changes. */
async function follow(box: HTMLElement): Promise<void> {
  let [live, known] = [true, ""];
  while (box.isConnected) {
    const instance = box.dataset["instance"] ?? "";
    if (document.visibilityState === "visible" && (live || instance !== known)) {
      // Old content is kept for the same instance only.
      if (instance !== known) need("[data-keep]", box).replaceChildren();
      live = await show(box, instance);
      known = instance;
    }
    for (let n = 0; n < AGAIN && box.dataset["instance"] === instance; n++) await new Promise((done) => { setTimeout(done, 1000); });
  }
}

/** Returns whether there may be more later. */
async function show(box: HTMLElement, instance: string): Promise<boolean> {
  const { run = "", task = "", pipeline = "" } = box.dataset;
  const place = need("[data-keep]", box);
  try {
    const { data } = await request("GET", `/runs/${run}/tasks/${task}/advice?instance=${instance}`);
    const links = () => [h("a", { class: "button small", href: pipeline }, t("monitoring.advice-pipeline"))];
    const found = advised(data.advice, links, data.workers > 1);
    place.replaceChildren(...(found === null ? [] : [found]));
    return data.live;
  } catch (error) {
    // If the task's metrics are unreachable, the old advice stays, with the reason above it. The page itself
    // reports an unreachable server.
    if (error instanceof ApiProblem && error.body.detail !== undefined) away(place, error.body.detail);
    return true;
  }
}

/** Shows once why there is nothing new. */
function away(place: HTMLElement, why: string): void {
  const said = place.querySelector("[data-advice-note]");
  if (said === null) place.prepend(h("p", { class: "muted", role: "status", "data-advice-note": true }, why));
  else if (said.textContent !== why) said.textContent = why;
}
