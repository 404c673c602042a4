// When a page is settled: it has started, only streams are open, and elements neither appear nor disappear.

/** How long a page may take to settle, in milliseconds. */
const PATIENCE = 30_000;
/**
 * A page is settled after this many frames without a change. These are the page's own frames: a busy machine
 * slows them like its scripts.
 */
const FRAMES = 6;
/** Requests that never end. */
const STREAMS = new Set(["eventsource", "websocket"]);

/** The open requests of each page, and their total count. */
const traffic = new WeakMap();

/** Tracks the requests of a page from now on, which `settled` needs. */
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

/** Waits until the page is settled. On a timeout, reports what still changes. */
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

/** The changes on the page during some frames. */
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
    // Checks again if the page navigates meanwhile.
    if (/context was destroyed|navigat/i.test(error.message)) return ["it is loaded again"];
    if (error.name === "TimeoutError") return ["it does not start"];
    throw error;
  }
}

/**
 * Waits until the page has started: input before that has no effect. Foreign pages have none of our scripts.
 */
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

/** In the page: the elements that appear, disappear or are busy during this many frames. */
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
