//! The account page: profile, password, tokens, sessions.

import { request } from "../api/client";
import { ask } from "../core/ask";
import { confirm } from "../core/dialog";
import { all, need } from "../core/dom";
import { exact, field, input, said, select } from "../core/fields";
import { onSubmit, trying } from "../core/form";
import { t } from "../core/texts";
import { toast, toastLater } from "../core/toast";
import { showOnce } from "../people/dialogs";

const DAY_MS = 86_400_000;

export function start(): void {
  watchProfile(need<HTMLFormElement>("#profile-form"));
  const password = document.querySelector<HTMLFormElement>("#password-form");
  if (password) watchPassword(password);
  const connect = document.querySelector<HTMLFormElement>("#connect-form");
  if (connect) watchConnect(connect);
  const disconnecting = document.querySelector<HTMLButtonElement>("#disconnect");
  disconnecting?.addEventListener("click", () => void trying(() => disconnect(disconnecting)));
  need("#token-new").addEventListener("click", () => void trying(newToken));
  for (const button of all<HTMLButtonElement>("[data-revoke]")) {
    button.addEventListener("click", () => void trying(() => revoke(button)));
  }
  for (const button of all<HTMLButtonElement>("[data-end-session]")) {
    button.addEventListener("click", () => void trying(() => endSession(button)));
  }
}

function watchProfile(form: HTMLFormElement): void {
  onSubmit(form, async (data) => {
    const body = { display_name: said(data, "display_name"), email: said(data, "email"), mails: data.has("mails") };
    await request("PATCH", "/me", body, { etag: `"${form.dataset["revision"] ?? ""}"` });
    toastLater(t("people.saved"));
    location.reload();
  });
}

function watchPassword(form: HTMLFormElement): void {
  onSubmit(form, async (data) => {
    await request("PUT", "/me/password", { current: exact(data, "current"), password: exact(data, "password") });
    form.reset();
    toast(t("people.password-changed"));
  });
}

function watchConnect(form: HTMLFormElement): void {
  onSubmit(form, async (data) => {
    const { data: there } = await request("POST", "/me/provider", { current: exact(data, "current") });
    location.assign(there.url);
  });
}

async function disconnect(button: HTMLButtonElement): Promise<void> {
  const title = t("people.disconnect-title", { name: button.dataset["name"] ?? "" });
  const action = t("people.disconnect");
  if (!(await confirm({ title, text: t("people.disconnect-text"), action, danger: true }))) return;
  await request("DELETE", "/me/provider", undefined, { etag: `"${button.dataset["revision"] ?? ""}"` });
  toastLater(t("people.disconnected"));
  location.reload();
}

async function newToken(): Promise<void> {
  const { data } = await request("GET", "/projects?limit=200");
  const projects = data.items.map((project): [string, string] => [project.name, project.label]);
  ask({
    title: t("people.token-new"),
    fields: [
      field("name", t("people.token-name"), input(), t("people.token-name-help")),
      field("scope", t("people.token-scope"), select([
        ["run", t("people.scope-run")],
        ["read", t("people.scope-read")],
        ["write", t("people.scope-write")],
        ["admin", t("people.scope-admin")],
      ])),
      field("project", t("people.token-project"), select([["", t("people.all-my-projects")], ...projects])),
      field("expires_at", t("people.token-expires"), select([
        ["7", t("people.days-7")],
        ["30", t("people.days-30")],
        ["90", t("people.days-90")],
        ["365", t("people.days-365")],
        ["", t("people.for-ever")],
      ], "90")),
    ],
    action: t("people.token-create"),
    send: async (data) => {
      const days = Number(said(data, "expires_at"));
      const made = await request("POST", "/tokens", {
        name: said(data, "name"),
        scope: said(data, "scope"),
        project: said(data, "project") || null,
        expires_at: days > 0 ? new Date(Date.now() + days * DAY_MS).toISOString() : null,
      });
      showOnce(t("people.token-made"), t("people.token-once"), made.data.token);
    },
  });
}

async function revoke(button: HTMLButtonElement): Promise<void> {
  const name = button.dataset["name"] ?? "";
  const text = t("people.revoke-text", { name });
  const sure = await confirm({ title: t("people.revoke-title"), text, action: t("people.revoke"), danger: true });
  if (!sure) return;
  await request("DELETE", `/tokens/${button.dataset["revoke"] ?? ""}`);
  toastLater(t("people.revoked"));
  location.reload();
}

async function endSession(button: HTMLButtonElement): Promise<void> {
  await request("DELETE", `/me/sessions/${button.dataset["endSession"] ?? ""}`);
  toastLater(t("people.session-ended"));
  location.reload();
}
