//! A terminal in a dialog, which ends with the dialog. If the page is left, the server ends it after a grace
//! period.

import { request } from "../../api/client";
import type { Schema } from "../../api/typed";
import { openDialog } from "../../core/dialog";
import { h } from "../../core/dom";
import { busy, trying } from "../../core/form";
import { language, t } from "../../core/texts";
import { Screen, type Size } from "./screen";
import { Connection, type Said } from "./socket";
import "./terminal.css";

/** The task instance of a terminal. */
export interface Place {
  run: string;
  task: string;
  instance: number;
}

const ENDS: Record<Schema<"TerminalEnd">, string> = {
  exited: /* text */ "terminals.exited",
  closed: /* text */ "terminals.closed",
  limit: /* text */ "terminals.limit",
  idle: /* text */ "terminals.idle",
  away: /* text */ "terminals.away",
  revoked: /* text */ "terminals.revoked",
  stopping: /* text */ "terminals.stopping",
};

/** The initial size, before the screen is rendered. */
const FIRST: Size = { columns: 80, rows: 24 };

/** Opens a terminal; throws the server's error if refused. */
export async function openTerminal({ run, task, instance }: Place): Promise<void> {
  const { data } = await request("POST", `/runs/${run}/tasks/${task}/instances/${instance}/terminals`, { ...FIRST });
  const end = async (): Promise<void> => { await request("DELETE", `/runs/${run}/terminals/${data.id}`); };
  show(task, data, end);
}

function show(task: string, view: Schema<"TerminalView">, end: () => Promise<void>): void {
  let open = true;
  const place = h("div", { class: "terminal-screen" });
  const status = h("p", { class: "muted", role: "status" }, t("terminals.connecting"));
  const finish = h("button", { class: "button danger", type: "button" }, t("terminals.end"));
  const dialog = openDialog({
    title: t("terminals.title", { task, worker: view.worker }),
    body: [place, h("p", { class: "muted" }, t("terminals.leave"))],
    actions: [status, finish],
    large: true,
  });
  dialog.classList.add("terminal");
  const screen: Screen = new Screen(place, {
    typed: (text) => { connection.type(text); },
    resized: (size) => { connection.resize(size); },
    left: () => { finish.focus(); },
  });
  const ended = (text: string): void => {
    open = false;
    status.textContent = text;
    screen.say(text);
    screen.freeze();
    finish.textContent = t("common.close");
    finish.className = "button";
  };
  const connection = new Connection(view.socket, {
    connected: () => {
      screen.reset();
      status.textContent = t("terminals.ends", { time: clock(view.ends_at) });
    },
    interrupted: () => { status.textContent = t("terminals.again"); },
    shown: (bytes, done) => { screen.show(bytes, done); },
    said: (said) => { hear(said, screen, ended); },
    lost: () => { ended(t("terminals.lost")); },
  });
  connection.resize(screen.size);
  screen.focus();
  // An ended terminal still counts until the dialog is closed.
  const finished = async (): Promise<void> => {
    const ours = open;
    open = false;
    if (ours) await busy(finish, () => trying(end));
    dialog.close();
  };
  finish.addEventListener("click", () => { void finished(); });
  // Escape belongs to the shell while the focus is in it.
  dialog.addEventListener("cancel", (event) => {
    event.preventDefault();
    if (!place.contains(document.activeElement)) void finished();
  });
  dialog.addEventListener("close", () => {
    connection.close();
    screen.dispose();
    if (open) void trying(end);
  });
}

function hear(said: Said, screen: Screen, ended: (text: string) => void): void {
  switch (said.kind) {
    case "warning": screen.say(t("terminals.warning", { n: said.seconds })); return;
    case "ended": ended(t(ENDS[said.why])); return;
    case "replaced": ended(t("terminals.replaced")); return;
  }
}

function clock(moment: string): string {
  return new Intl.DateTimeFormat(language(), { timeStyle: "short" }).format(new Date(moment));
}
