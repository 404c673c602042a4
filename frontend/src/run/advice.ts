// What could be done better with a task: read when its page is opened, and again while the task runs.

import { request } from "../api/client";
import { ApiProblem } from "../api/problem";
import { h, need } from "../core/dom";
import { t } from "../core/texts";
import { advised } from "../monitoring/advised";

/** So often it is read again while the task runs, in seconds: rules look at many minutes of values. */
const AGAIN = 60;

const followed = new WeakSet<HTMLElement>();

/** Follows the part of the page that advice is for, once it is there. */
export function watchAdvice(): void {
  const box = document.querySelector<HTMLElement>("[data-advice]");
  if (box === null || followed.has(box)) return;
  followed.add(box);
  void follow(box);
}

/** Shows it until the part is gone; what is said of another instance takes its place. */
async function follow(box: HTMLElement): Promise<void> {
  let [live, known] = [true, ""];
  while (box.isConnected) {
    const instance = box.dataset["instance"] ?? "";
    if (document.visibilityState === "visible" && (live || instance !== known)) {
      // What stays while nothing new is known is of the same instance.
      if (instance !== known) need("[data-keep]", box).replaceChildren();
      live = await show(box, instance);
      known = instance;
    }
    for (let n = 0; n < AGAIN && box.dataset["instance"] === instance; n++) await new Promise((done) => { setTimeout(done, 1000); });
  }
}

/** Whether there may be more to say later. */
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
    // What measures the task may be away: what was said stays, and why it is not new is said above it. That the server itself is
    // away says the page.
    if (error instanceof ApiProblem && error.body.detail !== undefined) away(place, error.body.detail);
    return true;
  }
}

/** Says why nothing new is known; once. */
function away(place: HTMLElement, why: string): void {
  const said = place.querySelector("[data-advice-note]");
  if (said === null) place.prepend(h("p", { class: "muted", role: "status", "data-advice-note": true }, why));
  else if (said.textContent !== why) said.textContent = why;
}
