//! `?kind=ours|bare|culled&nodes=1000`: one canvas over the whole window. `opened` in the page is the time from here to
//! the first frame that shows the graph, in milliseconds.

import "../src/styles/main.css";
import "./bench.css";
import { createRoot } from "react-dom/client";
import { Canvas } from "../src/canvas/canvas";
import { loadTexts } from "../src/core/texts";
import { EditorStore } from "../src/editor/store";
import { Bare } from "./bare";
import { pipeline } from "./graphs";

// Marks each move in the trace, before anything else hears of it.
for (const type of ["pointermove", "wheel"]) addEventListener(type, () => performance.mark("bench-move"), { capture: true, passive: true });

const asked = new URLSearchParams(location.search);
const kind = asked.get("kind") ?? "ours";

async function begin(): Promise<void> {
  await loadTexts();
  const document = pipeline(Number(asked.get("nodes") ?? 1000));
  const root = createRoot(window.document.querySelector("#root") ?? window.document.body);
  const store = new EditorStore(document, false);
  // Lets everything before it settle, so that only the opening is measured.
  await new Promise((done) => setTimeout(done, 300));
  const started = performance.now();
  const keep = (stage: unknown) => { Object.assign(window, { stage }); };
  root.render(kind === "ours" ? <Canvas store={store} templates={new Map()} onOpen={() => undefined} onStage={keep} /> : <Bare document={document} culled={kind === "culled"} />);
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  await new Promise((done) => setTimeout(done, 0));
  Object.assign(window, { opened: performance.now() - started, store });
}

void begin();
