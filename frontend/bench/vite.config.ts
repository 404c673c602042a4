import { defineConfig } from "vite";
import { texts } from "../build/texts.ts";

const here = (path: string) => new URL(path, import.meta.url).pathname;

// The pages that `run.mjs` measures: the editor's canvas, and bare xyflow with the same nodes.
export default defineConfig({
  root: here("."),
  base: "./",
  resolve: { alias: { "d3-transition": here("../src/canvas/no-transition.ts") } },
  plugins: [texts(here("../src"), here("../../texts"))],
  build: { outDir: here("dist"), emptyOutDir: true, reportCompressedSize: false, cssTarget: ["chrome123"] },
});
