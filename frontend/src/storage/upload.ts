//! Sequential uploads, each with a progress bar and a stop button.

import { ApiProblem } from "../api/problem";
import { inSession } from "../api/session";
import { confirm } from "../core/dialog";
import { h, icon, need } from "../core/dom";
import { t } from "../core/texts";
import { toastLater } from "../core/toast";
import type { Place } from "../pages/storage";

/** Uploads the files, then reloads the folder. Errors stay on the page until they are closed. */
export async function uploadAll(place: Place, files: File[]): Promise<void> {
  let failed = false;
  let last = "";
  for (const file of files) {
    const line = new Line(file.name);
    try {
      if (await send(place, file, line)) last = file.name;
      line.remove();
    } catch (error) {
      failed = true;
      line.fail(error instanceof Error ? error.message : String(error));
    }
  }
  if (last === "") return;
  toastLater(t("storage.uploaded", { name: last }));
  if (!failed) location.reload();
}

/** Whether the file was written: the user may keep an existing one, or stop. */
async function send(place: Place, file: File, line: Line): Promise<boolean> {
  try {
    return await put(place, file, line, false);
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.kind !== "conflict") throw error;
    const title = t("storage.replace-title", { name: file.name });
    const yes = await confirm({ title, text: t("storage.replace-text"), action: t("storage.replace"), danger: true });
    return yes && put(place, file, line, true);
  }
}

/** Whether the file was written: the user may stop it. */
async function put(place: Place, file: File, line: Line, replace: boolean): Promise<boolean> {
  const answer = await inSession(() => transmit(place, file, line, replace), (one) => one?.status === 401);
  if (answer !== null && answer.status >= 300) throw new ApiProblem(answer.status, problemOf(answer.responseText));
  return answer !== null;
}

/** The server's response; null if the user stops it. fetch cannot report upload progress. */
function transmit(place: Place, file: File, line: Line, replace: boolean): Promise<XMLHttpRequest | null> {
  const path = place.path === "" ? file.name : `${place.path}/${file.name}`;
  return new Promise((resolve, reject) => {
    const sending = new XMLHttpRequest();
    sending.open("PUT", `/api/v1${place.api}/file?path=${encodeURIComponent(path)}`);
    sending.setRequestHeader("content-type", "application/octet-stream");
    if (!replace) sending.setRequestHeader("If-None-Match", "*");
    sending.upload.addEventListener("progress", (event) => { line.show(event.loaded, event.total); });
    sending.addEventListener("load", () => { resolve(sending); });
    sending.addEventListener("error", () => { reject(new Error(t("common.server-unreachable"))); });
    sending.addEventListener("abort", () => { resolve(null); });
    line.onStop(() => { sending.abort(); });
    sending.send(file);
  });
}

function problemOf(text: string): ApiProblem["body"] {
  try {
    return JSON.parse(text) as ApiProblem["body"];
  } catch {
    return {};
  }
}

/** The progress line of one upload. */
class Line {
  private readonly bar = h("progress", { class: "progress", max: 1, value: 0 });
  private readonly words = h("span", { class: "files-upload-words" });
  private readonly stop = h("button", { class: "button small", type: "button" }, t("storage.stop"));
  private readonly element: HTMLElement;

  constructor(private readonly name: string) {
    this.element = h("li", { class: "card files-upload" }, icon("upload"), this.words, this.bar, this.stop);
    this.bar.setAttribute("aria-label", name);
    this.show(0, 1);
    need("#uploads").append(this.element);
  }

  show(sent: number, all: number): void {
    const part = all === 0 ? 1 : sent / all;
    this.bar.value = part;
    this.words.textContent = t("storage.uploading", { name: this.name, percent: Math.floor(part * 100) });
  }

  onStop(stop: () => void): void {
    this.stop.onclick = stop;
  }

  fail(why: string): void {
    this.words.textContent = t("storage.upload-failed", { name: this.name, why });
    this.element.toggleAttribute("data-failed", true);
    this.bar.remove();
    this.stop.textContent = t("common.close");
    this.stop.onclick = () => { this.remove(); };
  }

  remove(): void {
    this.element.remove();
  }
}
