// An administrator adds an unreachable cluster, sees why, edits its settings, and removes it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { look, settled } from "./support/browser.mjs";
import { eventually } from "./support/eventually.mjs";
import { KUBECONFIG } from "./support/observed.mjs";
import { siteFor } from "./support/site.mjs";
import { stage } from "./support/stage.mjs";

const site = siteFor(stage, async () => ({
  CUBELOOM_SLURM_HALL: '{become = ["sudo", "-n", "-u", "{account}", "--"]}',
  CUBELOOM_NODES_OFFER_AFTER: "1s",
}));

test("a cluster is added, checked, changed and removed", async () => {
  const page = await site.open({ as: "ada" });
  await page.goto("/clusters");
  await settled(page);
  await page.getByRole("button", { name: "Add cluster" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name", { exact: true }).fill("far");
  await dialog.getByLabel("Kubeconfig", { exact: true }).fill(KUBECONFIG.replace("token: tops3cret", "tokenFile: /etc/shadow"));
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await dialog.getByText(/which the server does not use/).waitFor();
  await dialog.getByLabel("Kubeconfig", { exact: true }).fill(KUBECONFIG);
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("heading", { name: "far" }).waitFor();
  await page.waitForFunction(async () => (await (await fetch("/api/v1/clusters/far")).json()).standing.state === "away");
  await page.reload();
  await settled(page);
  await page.getByText("Unreachable").first().waitFor();
  // The rejected kubeconfig.
  page.faults.length = 0;
  assert.deepEqual(await look(page, "en"), []);
  await page.getByRole("button", { name: "Check" }).click();
  await page.getByRole("dialog").getByText(/the cluster is unreachable/i).waitFor();
  assert.deepEqual(await look(page, "en"), []);
  await page.keyboard.press("Escape");
  await change(page);
  await aside(page);
  await page.getByRole("button", { name: "Remove far" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByText("far is removed").waitFor();
  assert.equal(await page.getByRole("heading", { name: "far" }).count(), 0);
});

test("of a Slurm cluster only is asked what it has", async () => {
  const page = await site.open({ as: "ada" });
  await page.goto("/clusters");
  await settled(page);
  await page.getByRole("button", { name: "Add cluster" }).click();
  const dialog = page.getByRole("dialog");
  const namespace = dialog.getByLabel("Job namespace", { exact: true });
  await namespace.waitFor();
  await dialog.getByLabel("Name", { exact: true }).fill("hall");
  await dialog.locator("[name=access]").selectOption("slurm");
  await namespace.waitFor({ state: "hidden" });
  const said = dialog.locator("[name=slurm]");
  const given = JSON.parse(await said.inputValue());
  await said.fill(JSON.stringify({ ...given, facts: { ...given.facts, program: "bin/cubeloom" } }));
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await dialog.locator("[data-field=slurm] .field-error").waitFor();
  page.faults.length = 0;
  await said.fill(JSON.stringify({ ...given, way: { accounts: { ada: "ada" } } }));
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("heading", { name: "hall" }).waitFor();
});

test("a faulty card is taken back once that is confirmed", async () => {
  const page = await site.open({ as: "ada" });
  const gpu = "GPU-8b1c0e72";
  // Test machines have no unhealthy GPU: the test inserts the button that the page would show.
  const name = `Uncordon ${gpu}`;
  const button = `<button class="button small" type="button" data-whole="${gpu}" data-cluster="local" aria-label="${name}">Uncordon</button>`;
  let faulty = true;
  await page.route((url) => url.pathname === "/clusters", async (route) => {
    const response = await route.fetch();
    const text = await response.text();
    const body = faulty ? text.replace('<td data-label="GPUs">', `$&<p>${button}</p>`) : text;
    await route.fulfill({ response, body });
  });
  await page.goto("/clusters");
  await settled(page);
  const asked = [];
  page.on("request", (request) => { if (request.method() === "DELETE") asked.push(new URL(request.url()).pathname); });
  await page.getByRole("button", { name }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("heading", { name }).waitFor();
  assert.deepEqual(await look(page, "en"), []);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await dialog.waitFor({ state: "detached" });
  assert.deepEqual(asked, []);

  // The server knows of no error of such a GPU, and the page stays unchanged.
  await page.getByRole("button", { name }).click();
  await dialog.getByRole("button", { name: "Uncordon" }).click();
  await page.getByText(/there is no faulty GPU/).waitFor();
  assert.equal(await page.getByRole("button", { name }).count(), 1);
  // The rejected request.
  page.faults.length = 0;

  const address = `/api/v1/clusters/local/gpus/${gpu}/fault`;
  await page.route(`**${address}`, (route) => {
    faulty = false;
    return route.fulfill({ status: 204 });
  });
  await page.getByRole("button", { name }).click();
  await dialog.getByRole("button", { name: "Uncordon" }).click();
  await page.getByText(`${gpu} is uncordoned`).waitFor();
  await settled(page);
  assert.equal(await page.getByRole("button", { name }).count(), 0);
  assert.deepEqual(asked, [address, address]);
  assert.deepEqual(await look(page, "en"), []);
});

/** A node is cordoned, becomes ready for retry, and is uncordoned. */
async function aside(page) {
  await page.getByRole("button", { name: "Cordon node" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Node").fill("GPU 3");
  await dialog.getByLabel("Why").fill("its fan");
  await dialog.getByRole("button", { name: "Cordon" }).click();
  await dialog.locator("[data-field=node] .field-error").waitFor();
  // The rejected name.
  page.faults.length = 0;
  assert.deepEqual(await look(page, "en"), []);
  await dialog.getByLabel("Node").fill("gpu-3");
  await page.keyboard.press("Enter");
  await page.getByText("gpu-3 is cordoned").waitFor();
  await settled(page);
  await page.getByText("ada: its fan").waitFor();
  await eventually(async () => {
    await page.reload();
    await settled(page);
    assert.equal(await page.getByRole("rowheader", { name: "gpu-3 Ready for retry" }).count(), 1);
  });
  assert.deepEqual(await look(page, "en"), []);
  await page.getByRole("button", { name: "Uncordon gpu-3" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Uncordon" }).click();
  await page.getByText("gpu-3 is uncordoned").waitFor();
  await settled(page);
  assert.equal(await page.getByText("ada: its fan").count(), 0);
}

/**
 * Edits the cluster's settings. The dialog starts with the current ones, and reports a conflicting change.
 */
async function change(page) {
  const settings = () => page.evaluate(async () => (await fetch("/api/v1/clusters/far/settings")).json());
  const put = (body) => page.evaluate(async (sent) => {
    const headers = { "content-type": "application/json", "if-match": "*" };
    return (await fetch("/api/v1/clusters/far", { method: "PUT", headers, body: JSON.stringify(sent) })).status;
  }, body);
  const env = { NCCL_IB_HCA: "mlx5_0,mlx5_1", NCCL_SOCKET_IFNAME: "ib0" };
  const cards = { selector: { pool: "cards" }, tolerations: [{ key: "gpu", effect: "NoSchedule" }, { key: "team", value: "vision" }], env };
  assert.equal(await put({ ...(await settings()), description: "Not asked for", uid: 2000, node_groups: { cards } }), 200);
  await page.getByRole("button", { name: "Change far" }).click();
  const dialog = page.getByRole("dialog");
  const namespace = dialog.getByLabel("Job namespace");
  assert.equal(await namespace.inputValue(), "cubeloom-jobs");
  assert.equal(await dialog.getByLabel("Kubeconfig", { exact: true }).inputValue(), "", "a kubeconfig is never shown");
  // The help of the namespace explains {project}.
  assert.deepEqual((await look(page, "en")).filter((fault) => !fault.endsWith(": {project}")), []);
  await namespace.fill("Jobs!");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.locator("[data-field=namespace] [aria-invalid=true], [data-field=namespace] .field-error").first().waitFor();
  await namespace.fill("jobs-{project}");
  await dialog.getByLabel("Operators use gang scheduling").check();
  await dialog.getByRole("button", { name: "Add node group" }).click();
  await page.keyboard.type("big");
  await page.keyboard.press("Tab");
  await page.keyboard.type("pool=big, zone=a");
  await dialog.getByLabel("Standby nodes").last().fill("2");
  // A problem in a folded section is shown.
  await dialog.getByText("More settings").click();
  await dialog.getByLabel("Image pull secrets").fill("shared, Not a name");
  await dialog.getByText("More settings").click();
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.locator("[data-field=pull_secrets] .field-error").waitFor();
  await dialog.getByLabel("Image pull secrets").fill("shared, other");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByText("far is changed").waitFor();
  const now = await settings();
  assert.deepEqual(
    [now.namespace, now.operators_gang, now.uid, now.description, now.pull_secrets, now.revision],
    ["jobs-{project}", true, 2000, "Not asked for", ["shared", "other"], 3],
  );
  assert.deepEqual(now.node_groups, { big: { selector: { pool: "big", zone: "a" }, tolerations: [], env: {}, spares: 2 }, cards: { ...cards, spares: 0 } });

  await settled(page);
  await page.getByRole("button", { name: "Change far" }).click();
  assert.ok(await dialog.getByLabel("Operators use gang scheduling").isChecked());
  assert.equal(await put(await settings()), 200, "somebody else is faster");
  await dialog.getByLabel("Project folder in the PVC").fill("");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByText(/changed/i).first().waitFor();
  assert.equal((await settings()).workspace_path, "{project}", "nothing was overwritten");
  await page.keyboard.press("Escape");
  // The rejected requests.
  page.faults.length = 0;
}

test("who does not administer adds none", async () => {
  const page = await site.open({ as: "emil" });
  await page.goto("/clusters");
  await settled(page);
  assert.equal(await page.getByRole("button", { name: "Add cluster" }).count(), 0);
  assert.equal(await page.getByRole("button", { name: /^Change/ }).count(), 0);
});
