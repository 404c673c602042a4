//! The dialog that signs a user in again, on a page whose session has ended.

import { accepted, send } from "../api/http";
import { ApiProblem } from "../api/problem";
import type { Schema } from "../api/typed";
import { openDialog } from "./dialog";
import { h, icon } from "./dom";
import { exact } from "./fields";
import { busy, clearProblems, onSubmit, showProblem, trying } from "./form";
import { t } from "./texts";

const FORM = "sign-in-again";

/**
 * Asks for the password of `user`, or for a sign-in at the provider in another tab. Resolves to the name of the
 * user who is signed in then; null if the dialog is dismissed.
 */
export function askSignIn(user: string, provider: string | undefined): Promise<string | null> {
  return new Promise((resolve) => {
    const password = h("input", { class: "input", id: "again-password", name: "password", type: "password", autocomplete: "current-password" });
    const form = h("form", { class: "form", id: FORM }, h("p", {}, t("sign-in.again-text")), ...fields(user, password));
    const leave = h("button", { class: "button", type: "button" }, t("sign-in.leave"));
    const go = h("button", { class: "button primary", type: "submit", form: FORM }, t("sign-in.submit"));
    const other = provider === undefined ? null : elsewhere(provider);
    const dialog = openDialog({ title: t("sign-in.again"), body: other ? [form, other.element] : [form], actions: [leave, go] });
    leave.addEventListener("click", () => { dialog.close(); });
    onSubmit(form, async (data) => { dialog.close(await signIn(user, exact(data, "password"))); });
    const look = async (says: boolean) => {
      const name = await signedIn();
      if (name !== null) dialog.close(name);
      else if (says) showProblem(form, new ApiProblem(401, { detail: t("sign-in.not-yet") }));
    };
    other?.done.addEventListener("click", () => {
      clearProblems(form);
      void busy(other.done, () => trying(() => look(true)));
    });
    // The user may have signed in on another tab.
    const seen = () => { if (document.visibilityState === "visible") void look(false).catch(() => undefined); };
    document.addEventListener("visibilitychange", seen);
    dialog.addEventListener("close", () => {
      document.removeEventListener("visibilitychange", seen);
      resolve(dialog.returnValue || null);
    });
    password.focus();
  });
}

/** With ids of their own: the dialog may cover another one. The name is for password managers, too. */
function fields(user: string, password: HTMLInputElement): HTMLElement[] {
  const name = h("input", { class: "input", id: "again-name", value: user, readonly: true, autocomplete: "username" });
  return [
    h("div", { class: "field" }, h("label", { for: name.id }, t("sign-in.name")), name),
    h("div", { class: "field", "data-field": "password" }, h("label", { for: password.id }, t("sign-in.password")), password),
  ];
}

/** A sign-in at the provider, on another tab. */
function elsewhere(provider: string): { element: HTMLElement; done: HTMLButtonElement } {
  const link = h("a", { class: "button", href: "/sign-in/oidc", target: "_blank", rel: "noopener" }, t("sign-in.provider", { name: provider }), icon("external"));
  const done = h("button", { class: "button", type: "button" }, t("sign-in.continue"));
  return { element: h("div", { class: "section stack" }, h("p", {}, t("sign-in.other-tab")), h("div", { class: "row" }, link, done)), done };
}

async function signIn(name: string, password: string): Promise<string> {
  const response = await send("POST", "/session", { name, password });
  if (response.status === 401) {
    const problem = { severity: "error", code: "invalid_value", path: "/password", message: t("sign-in.wrong") } as const;
    throw new ApiProblem(response.status, { problems: [problem] });
  }
  return nameIn(await accepted(response));
}

/** The user of this browser's session; null without one. */
async function signedIn(): Promise<string | null> {
  const response = await send("GET", "/me");
  return response.status === 401 ? null : nameIn(await accepted(response));
}

async function nameIn(response: Response): Promise<string> {
  const { user } = (await response.json()) as Schema<"MeView">;
  return user.name;
}
