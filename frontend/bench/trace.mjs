// What a page's main thread does for each move of a gesture, from a trace of Chromium.

/** Between two moves, in milliseconds: about two frames, so that what a move sets off is done before the next. */
const APART = 36;

/** The page sets it at each event that is a move (`main.tsx`). */
const MARK = "bench-move";

/**
 * Makes the moves and tells the cost of each: all tasks of the main thread from the one that takes the move to the one
 * that takes the next, in milliseconds by the clock (`wall`) and of the processor (`cpu`). The moves are told to the
 * browser, not to the page, and nothing else is asked of the page meanwhile, so that the harness costs it nothing.
 */
export async function costs(session, moves) {
  const events = [];
  session.on("Tracing.dataCollected", ({ value }) => events.push(...value));
  await session.send("Tracing.start", { transferMode: "ReportEvents", traceConfig: { includedCategories: ["toplevel", "disabled-by-default-devtools.timeline", "blink.user_timing"] } });
  for (const move of moves) {
    await move();
    await new Promise((done) => setTimeout(done, APART));
  }
  const ended = new Promise((done) => session.once("Tracing.tracingComplete", done));
  await session.send("Tracing.end");
  await ended;
  return perMove(events, moves.length);
}

function perMove(events, moves) {
  const marks = events.filter(({ name, cat }) => name === MARK && cat.includes("user_timing")).sort((a, b) => a.ts - b.ts);
  if (marks.length < moves) throw new Error(`${moves} moves were made, ${marks.length} came to the page`);
  const [{ pid, tid }] = marks;
  const tasks = events.filter((event) => event.name === "RunTask" && event.ph === "X" && event.pid === pid && event.tid === tid).sort((a, b) => a.ts - b.ts);
  const starts = marks.map(({ ts }) => tasks.findLastIndex((task) => task.ts <= ts));
  return starts.slice(0, -1).map((from, index) => {
    const own = tasks.slice(from, starts[index + 1]);
    const sum = (key) => own.reduce((all, task) => all + (task[key] ?? 0), 0) / 1000;
    return { wall: sum("dur"), cpu: sum("tdur") };
  });
}
