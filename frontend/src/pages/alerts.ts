//! Alerts of a project: channels are created, edited, tested and deleted.

import { request } from "../api/client";
import { ask } from "../core/ask";
import { confirm, openDialog } from "../core/dialog";
import { all, around, carried, h, icon } from "../core/dom";
import { said } from "../core/fields";
import { busy, trying } from "../core/form";
import { t } from "../core/texts";
import { toastLater } from "../core/toast";
import { type Channel, fields, type Offered, rules, typed } from "./alert-form";

interface Carried extends Offered {
  project: string;
  channels: Channel[];
}

export function start(): void {
  const page = carried("carried") as Carried;
  for (const button of all("[data-add]")) button.addEventListener("click", () => { add(page); });
  for (const row of all("[data-channel]")) {
    const channel = page.channels.find((one) => one.id === row.dataset["channel"]);
    if (channel) row.addEventListener("click", (event) => { act(page, channel, event); });
  }
}

function act(page: Carried, channel: Channel, event: Event): void {
  const test = around(event, "[data-test]");
  if (test) void busy(test, () => trying(() => attempt(page, channel)));
  if (around(event, "[data-change]")) change(page, channel);
  if (around(event, "[data-delete]")) void trying(() => remove(page, channel));
}

function add(page: Carried): void {
  ask({
    title: t("alerts.add"),
    fields: fields(page),
    action: t("alerts.save"),
    send: async (data) => {
      const name = said(data, "name");
      const body = { name, kind: said(data, "kind"), address: "", ...typed(data), rules: rules(data, page) };
      await request("POST", `/projects/${page.project}/alerts`, body);
      again(t("alerts.added", { name }));
    },
  });
}

function change(page: Carried, channel: Channel): void {
  ask({
    title: t("alerts.change-name", { name: channel.name }),
    fields: fields(page, channel),
    action: t("alerts.save"),
    send: async (data) => {
      const name = said(data, "name");
      const body = { name, ...typed(data), rules: rules(data, page), enabled: data.get("enabled") !== null };
      await request("PATCH", `/projects/${page.project}/alerts/${channel.id}`, body, { etag: etag(channel) });
      again(t("alerts.saved", { name }));
    },
  });
}

/** Sends a test message, and shows the receiver's response. */
async function attempt(page: Carried, channel: Channel): Promise<void> {
  const { data } = await request("POST", `/projects/${page.project}/alerts/${channel.id}/test`);
  const kind = data.sent ? "good" : "error";
  const title = data.sent ? t("alerts.test-sent") : t("alerts.test-failed");
  const told = h("div", {}, h("p", { class: "callout-title" }, title), h("p", {}, data.answer));
  const dialog = openDialog({
    title: t("alerts.test-name", { name: channel.name }),
    body: [h("div", { class: `callout ${kind}`, role: "status" }, icon(data.sent ? "check" : "error"), told)],
  });
  dialog.addEventListener("close", () => { location.reload(); });
}

async function remove(page: Carried, channel: Channel): Promise<void> {
  const title = t("alerts.delete-name", { name: channel.name });
  if (!(await confirm({ title, text: t("alerts.delete-text"), action: t("alerts.delete"), danger: true }))) return;
  await request("DELETE", `/projects/${page.project}/alerts/${channel.id}`, undefined, { etag: etag(channel) });
  again(t("alerts.deleted", { name: channel.name }));
}

function etag(channel: Channel): string {
  return `"${String(channel.revision)}"`;
}

function again(message: string): void {
  toastLater(message);
  location.reload();
}
