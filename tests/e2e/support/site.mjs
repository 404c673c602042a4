// A server and a browser for the tests of one file: started before the first of them, ended after the last.

import { after, afterEach, before } from "node:test";

import { launch, open, session } from "./browser.mjs";
import { Server } from "./server.mjs";

class Site {
  /** @type {Server} */
  server;
  browser;
  /** What the set-up of the file answered. */
  there;
  #sessions = new Map();

  /** A page; with `as`, of somebody who has signed in. The other options are those of a page. */
  async open({ as, ...options } = {}) {
    return open(this.browser, this.server, { state: as && (await this.session(as)), ...options });
  }

  /** The cookies of somebody who has signed in. */
  session(name) {
    if (!this.#sessions.has(name)) this.#sessions.set(name, session(this.browser, this.server, name));
    return this.#sessions.get(name);
  }
}

/**
 * @param {(server: Server) => unknown} setUp puts into the server what the tests find there
 * @param {() => Promise<Record<string, string>>} settings variables of the server
 * @param {"shell" | "full"} [browser] the kind of browser
 */
export function siteFor(setUp = () => undefined, settings = async () => ({}), browser = undefined) {
  const made = new Site();
  before(async () => {
    // One after the other: what was started is known to what ends it, when the other fails.
    made.browser = await launch(browser);
    made.server = await Server.start(await settings());
    made.there = await setUp(made.server);
  });
  // A page that stays open goes on drawing and asking, at the cost of the tests after it.
  afterEach(async () => {
    for (const context of made.browser.contexts()) await context.close();
  });
  after(async () => {
    await made.browser?.close();
    await made.server?.stop();
  });
  return made;
}
