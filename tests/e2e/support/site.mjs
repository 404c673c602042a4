// A server and a browser for the tests of one file: started before the first, stopped after the last.

import { after, afterEach, before } from "node:test";

import { launch, open, session } from "./browser.mjs";
import { Server } from "./server.mjs";

class Site {
  /** @type {Server} */
  server;
  browser;
  /** The result of the file's set-up. */
  there;
  #sessions = new Map();

  /** Opens a page, optionally as a signed-in user. The other options are those of a page. */
  async open({ as, ...options } = {}) {
    return open(this.browser, this.server, { state: as && (await this.session(as)), ...options });
  }

  /** The cookies of a signed-in user. */
  session(name) {
    if (!this.#sessions.has(name)) this.#sessions.set(name, session(this.browser, this.server, name));
    return this.#sessions.get(name);
  }
}

/**
 * @param {(server: Server) => unknown} setUp creates what the tests need
 * @param {() => Promise<Record<string, string>>} settings variables of the server
 * @param {"shell" | "full"} [browser] the kind of browser
 */
export function siteFor(setUp = () => undefined, settings = async () => ({}), browser = undefined) {
  const made = new Site();
  before(async () => {
    // In sequence: if one fails, the clean-up knows what was started before.
    made.browser = await launch(browser);
    made.server = await Server.start(await settings());
    made.there = await setUp(made.server);
  });
  // An open page keeps rendering and sending requests, which slows the tests after it.
  afterEach(async () => {
    for (const context of made.browser.contexts()) await context.close();
  });
  after(async () => {
    await made.browser?.close();
    await made.server?.stop();
  });
  return made;
}
