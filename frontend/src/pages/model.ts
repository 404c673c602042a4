//! A model or one of its versions: aliases, description, deletion, for editors.

import { request } from "../api/client";
import { ask } from "../core/ask";
import { confirm, type Question } from "../core/dialog";
import { around, need } from "../core/dom";
import { field, input, required, said } from "../core/fields";
import { trying } from "../core/form";
import { t } from "../core/texts";
import { toastLater } from "../core/toast";

export function start(): void {
  const head = need("#model");
  const model = { api: head.dataset["api"] ?? "", name: head.dataset["name"] ?? "", etag: head.dataset["etag"] ?? "*" };
  document.querySelector("#describe")?.addEventListener("click", () => { describe(model, head.dataset["description"] ?? ""); });
  document.querySelector("#delete-model")?.addEventListener("click", () => void trying(() => remove(model)));
  need("#main").addEventListener("click", (event) => {
    const version = (around(event, "[data-version]") ?? head).dataset["version"] ?? "";
    const alias = around(event, "[data-unalias]")?.dataset["unalias"];
    if (alias !== undefined) void trying(() => takeAway(model, alias));
    else if (around(event, "[data-alias]")) giveAlias(model, version);
    else if (around(event, "[data-remove]")) void trying(() => removeVersion(model, version));
  });
}

interface Model {
  /** Its URL below /api/v1. */
  api: string;
  name: string;
  etag: string;
}

function describe(model: Model, present: string): void {
  ask({
    title: t("models.describe"),
    fields: [field("description", t("models.description"), input(present))],
    action: t("models.save"),
    send: async (data) => {
      await request("PATCH", model.api, { description: said(data, "description") }, { etag: model.etag });
      again(t("models.described"));
    },
  });
}

function giveAlias(model: Model, version: string): void {
  ask({
    title: t("models.alias-title", { n: version }),
    fields: [field("alias", t("models.alias"), required(input()), t("models.alias-help"))],
    action: t("models.save"),
    send: async (data) => {
      const name = said(data, "alias");
      await request("PUT", `${model.api}/aliases/${encodeURIComponent(name)}`, { version: Number(version) });
      again(t("models.aliased", { name, n: version }));
    },
  });
}

async function takeAway(model: Model, alias: string): Promise<void> {
  const title = t("models.unalias-name", { name: alias });
  if (!(await confirm({ title, text: t("models.unalias-text"), action: t("models.take-away"), danger: true }))) return;
  await request("DELETE", `${model.api}/aliases/${alias}`);
  again(t("models.unaliased", { name: alias }));
}

async function removeVersion(model: Model, version: string): Promise<void> {
  const title = t("models.delete-version", { n: version });
  if (!(await confirm({ title, text: t("models.delete-version-text"), action: t("models.delete"), danger: true }))) return;
  await request("DELETE", `${model.api}/versions/${version}`);
  again(t("models.version-deleted", { n: version }));
}

async function remove(model: Model): Promise<void> {
  const title = t("models.delete-name", { name: model.name });
  const question: Question = { title, text: t("models.delete-text"), action: t("models.delete"), danger: true, typed: model.name };
  if (!(await confirm(question))) return;
  await request("DELETE", model.api, undefined, { etag: model.etag });
  toastLater(t("models.deleted", { name: model.name }));
  location.assign(location.pathname.replace(/\/[^/]+$/, ""));
}

function again(message: string): void {
  toastLater(message);
  location.reload();
}
