// When a page stands still: it has started, no request is open but streams, and no element comes or goes.

/** How long a page may take to stand still, in milliseconds. */
const PATIENCE = 30_000;
/** So many frames without a change are still. The page's own frames: on a busy machine they take longer, as its scripts do. */
const FRAMES = 6;
/** Requests without an end. */
const STREAMS = new Set(["eventsource", "websocket"]);

/** The open requests of each page, and how many there have been. */
const traffic = new WeakMap();

/** Notes the requests of a page from now on; `settled` needs it. */
export function watch(page) {
  const seen = { open: new Set(), count: 0, idle: () => undefined };
  traffic.set(page, seen);
  const over = (request) => {
    seen.open.delete(request);
    if (seen.open.size === 0) seen.idle();
  };
  page.on("request", (request) => {
    if (STREAMS.has(request.resourceType())) return;
    seen.count += 1;
    seen.open.add(request);
  });
  page.on("requestfinished", over);
  page.on("requestfailed", over);
}

/** Waits until the page stands still; after a while, says what still moves. */
export async function settled(page) {
  const seen = traffic.get(page);
  const deadline = performance.now() + PATIENCE;
  let moving = ["it does not start"];
  while (moving.length > 0) {
    const left = deadline - performance.now();
    if (left <= 0) throw new Error(`${page.url()} does not stand still: ${moving.join(", ")}`);
    moving = await moves(page, seen, left);
  }
}

/** What moves on the page during some frames. */
async function moves(page, seen, left) {
  try {
    await page.waitForLoadState("load", { timeout: left });
    await started(page, left);
    await idle(seen, left);
    const before = seen.count;
    const changes = await page.evaluate(changed, FRAMES);
    const open = [...seen.open].map((request) => request.url());
    return seen.count > before && open.length === 0 ? [...changes, "a request came and went"] : [...changes, ...open];
  } catch (error) {
    // A page that gives way to another one is asked again.
    if (/context was destroyed|navigat/i.test(error.message)) return ["it is loaded again"];
    if (error.name === "TimeoutError") return ["it does not start"];
    throw error;
  }
}

/** What is pressed before a page has started does nothing. Pages that are written elsewhere have none of our scripts. */
function started(page, left) {
  const is = () => document.documentElement.dataset.ready !== undefined || document.querySelector("body[data-page]") === null;
  return page.waitForFunction(is, undefined, { timeout: left });
}

/** Waits until no request is open. */
function idle(seen, left) {
  if (seen.open.size === 0) return undefined;
  return new Promise((done) => {
    const timer = setTimeout(done, left);
    seen.idle = () => {
      clearTimeout(timer);
      done();
    };
  });
}

/** In the page: the elements that come and go, and those that are busy, during so many frames. */
async function changed(frames) {
  await document.fonts.ready;
  const name = (node) => `${node.nodeName.toLowerCase()}.${node.getAttribute("class") ?? ""}`;
  const found = new Set();
  const note = (records) => {
    for (const record of records) {
      for (const node of [...record.addedNodes, ...record.removedNodes]) if (node.nodeType === Node.ELEMENT_NODE) found.add(name(node));
    }
  };
  const observer = new MutationObserver(note);
  observer.observe(document, { childList: true, subtree: true });
  const height = document.body.scrollHeight;
  for (let frame = 0; frame < frames && found.size === 0; frame += 1) {
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  }
  note(observer.takeRecords());
  observer.disconnect();
  if (document.body.scrollHeight !== height) found.add(`its height was ${height} and is ${document.body.scrollHeight}`);
  for (const node of document.querySelectorAll("[aria-busy=true]")) found.add(`busy: ${name(node)}`);
  return [...found];
}
