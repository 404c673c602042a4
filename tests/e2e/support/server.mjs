// A test's own real server and data folder, and its command line.

import { spawn, spawnSync } from "node:child_process";
import { chmodSync, closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

export const root = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");
const program = process.env.CUBELOOM_TEST_PROGRAM ?? join(root, "target/debug/cubeloom");

export const PASSWORD = "correct horse battery";

export class Server {
  #child;
  #words;

  /**
   * @param {Record<string, string>} settings variables of every call
   * @param {string[]} words arguments after `serve`
   */
  constructor(settings = {}, words = []) {
    this.#words = words;
    // Workers run under their own uid and must be able to enter it.
    this.folder = mkdtempSync(join(process.env.CUBELOOM_TEST_FOLDER ?? tmpdir(), "e2e-"));
    chmodSync(this.folder, 0o755);
    this.data = join(this.folder, "data");
    this.log = join(this.folder, "server.log");
    this.env = {
      PATH: "/usr/local/bin:/usr/bin:/bin",
      HOME: this.folder,
      CUBELOOM_DATA: this.data,
      CUBELOOM_SERVER_TEMPLATES: join(root, "task-templates"),
      CUBELOOM_SERVER_LISTEN: "127.0.0.1:0",
      CUBELOOM_LOCAL_CPU: "8",
      CUBELOOM_LOCAL_MEMORY: "4Gi",
      CUBELOOM_LOCAL_GRACE: "1s",
      // Tests leave files for tasks beside the data folder, which is in `/tmp`.
      CUBELOOM_SANDBOX_TMP: "false",
      ...settings,
    };
  }

  static async start(settings, words) {
    const server = new Server(settings, words);
    await server.run();
    return server;
  }

  /** Starts the server. Restarts use the first address, so that browsers find it again. */
  async run() {
    const out = openSync(this.log, "a");
    this.#child = spawn(program, ["serve", ...this.#words], { env: this.env, cwd: "/", stdio: ["ignore", out, out] });
    closeSync(out);
    const file = join(this.data, "server.json");
    const ready = () => {
      if (this.#child.exitCode !== null) throw new Error(`the server ended: ${this.says()}`);
      if (!existsSync(file)) return undefined;
      const said = JSON.parse(readFileSync(file, "utf8"));
      return said.pid === this.#child.pid ? said : undefined;
    };
    const said = await until("the server to be ready", ready, () => this.says());
    this.url = said.url;
    this.env.CUBELOOM_SERVER_LISTEN = said.listen;
  }

  /** Kills the server, as a crash would. */
  async kill() {
    await this.#end("SIGKILL");
  }

  /** Runs `work` while the server process is stopped. */
  async paused(work) {
    this.#child.kill("SIGSTOP");
    try {
      return await work();
    } finally {
      this.#child.kill("SIGCONT");
    }
  }

  /** Stops the server, and removes its folder. */
  async stop() {
    await this.#end("SIGTERM");
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #end(signal) {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((done) => child.once("exit", done));
    child.kill(signal);
    await gone;
  }

  says() {
    return readFileSync(this.log, "utf8");
  }

  /** Runs the program. Returns its output. */
  call(words, input = "") {
    const done = spawnSync(program, words, { env: this.env, cwd: "/", input, encoding: "utf8" });
    if (done.status !== 0) throw new Error(`${words.join(" ")}: ${done.status}: ${done.stdout}${done.stderr}`);
    return done.stdout;
  }

  /** Creates an account with PASSWORD. */
  user(name, ...words) {
    this.call(["user", "add", name, "--password-stdin", ...words], PASSWORD);
  }

  /** Creates a token of a user. */
  token(name, scope = "admin") {
    return this.call(["token", "create", "--user", name, "--scope", scope]).match(/clt_\S+/)[0];
  }

  /** An API client with a token: `await api("GET", "/runs")`. */
  api(token) {
    return async (method, path, body, headers = {}) => {
      const answer = await fetch(`${this.url}/api/v1${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status}: ${text}`);
      return { etag: answer.headers.get("etag"), body: text ? JSON.parse(text) : undefined };
    };
  }

  /** The path of a file in the server's folder, which workers may read. */
  path(name) {
    return join(this.folder, name);
  }

  write(name, text) {
    const path = this.path(name);
    writeFileSync(path, text);
    return path;
  }
}

/** Waits until `look` returns a truthy value. */
export async function until(what, look, more = () => "", seconds = 60) {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what} ${more()}`);
    await sleep(25);
  }
}
