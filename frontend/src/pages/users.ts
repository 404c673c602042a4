//! All accounts: creation, changes, invitations, password reset links.

import { request } from "../api/client";
import { ask } from "../core/ask";
import { all, need } from "../core/dom";
import { check, field, input, said, select } from "../core/fields";
import { trying } from "../core/form";
import { t } from "../core/texts";
import { toastLater } from "../core/toast";
import { showOnce } from "../people/dialogs";

export function start(): void {
  need("#user-new").addEventListener("click", newUser);
  need("#invite").addEventListener("click", invite);
  for (const row of all("[data-user]")) {
    row.addEventListener("click", (event) => {
      const action = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-do]") : null;
      if (action?.dataset["do"] === "edit") edit(row);
      else if (action?.dataset["do"] === "reset") void trying(() => reset(row.dataset["user"] ?? ""));
    });
  }
  for (const button of all<HTMLButtonElement>("[data-revoke-link]")) {
    button.addEventListener("click", () => void trying(() => withdraw(button)));
  }
}

function newUser(): void {
  ask({
    title: t("people.user-new"),
    fields: [
      field("name", t("people.user-name"), input(), t("people.user-name-help")),
      field("display_name", t("people.user-display-name"), input()),
      field("email", t("people.email"), input("", "email")),
      check("admin", t("people.administers"), false),
    ],
    action: t("people.user-create"),
    send: async (data) => {
      const { data: made } = await request("POST", "/users", {
        name: said(data, "name"),
        display_name: said(data, "display_name"),
        email: said(data, "email") || null,
        admin: data.has("admin"),
      });
      showOnce(t("people.user-made", { name: made.name }), t("people.link-once"), made.link ?? "");
    },
  });
}

function invite(): void {
  const projects = all("#projects [data-project]").map((project): [string, string] => [
    project.dataset["project"] ?? "",
    project.textContent,
  ]);
  ask({
    title: t("people.invite"),
    fields: [
      field("note", t("people.link-note"), input(), t("people.link-note-help")),
      field("project", t("people.project"), select([["", t("people.no-project")], ...projects])),
      field("role", t("people.role"), select([
        ["viewer", t("people.role-viewer")],
        ["editor", t("people.role-editor")],
        ["owner", t("people.role-owner")],
      ], "editor")),
      check("admin", t("people.administers"), false),
    ],
    action: t("people.invite-create"),
    send: async (data) => {
      const project = said(data, "project");
      const place = project ? { project, role: said(data, "role") } : {};
      const body = { kind: "invite" as const, note: said(data, "note"), admin: data.has("admin"), ...place };
      const { data: made } = await request("POST", "/links", body);
      showOnce(t("people.invite-made"), t("people.link-once"), made.url);
    },
  });
}

function edit(row: HTMLElement): void {
  const { user = "", revision = "", displayName = "", email = "", admin, disabled } = row.dataset;
  ask({
    title: t("people.edit-person", { name: user }),
    fields: [
      field("display_name", t("people.user-display-name"), input(displayName)),
      field("email", t("people.email"), input(email, "email")),
      check("admin", t("people.administers"), admin === "true"),
      check("disabled", t("people.disables"), disabled === "true", t("people.disables-help")),
    ],
    action: t("people.save"),
    send: async (data) => {
      const body = {
        display_name: said(data, "display_name"),
        email: said(data, "email"),
        admin: data.has("admin"),
        disabled: data.has("disabled"),
      };
      await request("PATCH", `/users/${encodeURIComponent(user)}`, body, { etag: `"${revision}"` });
      toastLater(t("people.saved"));
      location.reload();
    },
  });
}

async function reset(user: string): Promise<void> {
  const { data: made } = await request("POST", "/links", { kind: "reset", user });
  showOnce(t("people.reset-title", { name: user }), t("people.link-once"), made.url);
}

async function withdraw(button: HTMLButtonElement): Promise<void> {
  await request("DELETE", `/links/${button.dataset["revokeLink"] ?? ""}`);
  toastLater(t("people.link-revoked"));
  location.reload();
}
