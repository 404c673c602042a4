// Touch gestures.

/** Touch input for a page opened with `touch`. */
export async function hand(page) {
  const screen = await page.context().newCDPSession(page);
  const send = (type, fingers) => screen.send("Input.dispatchTouchEvent", { type, touchPoints: fingers.map(({ x, y }, id) => ({ x, y, id })) });
  /** Moves fingers from their start points to their end points: one point each. */
  const move = async (from, to, steps = 8) => {
    await send("touchStart", from);
    for (let step = 1; step <= steps; step += 1) {
      const part = step / steps;
      await send("touchMove", from.map(({ x, y }, finger) => ({ x: x + (to[finger].x - x) * part, y: y + (to[finger].y - y) * part })));
    }
    await send("touchEnd", []);
  };
  return { move, tap: (at) => move([at], [at], 0) };
}
