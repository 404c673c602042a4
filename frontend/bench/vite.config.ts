import { defineConfig } from "vite";
import { INSTEAD } from "../build/instead.ts";
import { texts } from "../build/texts.ts";

const here = (path: string) => new URL(path, import.meta.url).pathname;

// The pages that `run.mjs` measures: the editor's canvas as it is built (`--mode ours`), and bare xyflow with the same
// nodes and the React that it is made for (`--mode bare`).
export default defineConfig(({ mode }) => ({
  root: here("."),
  base: "./",
  resolve: { alias: mode === "ours" ? INSTEAD : {} },
  plugins: [texts(here("../src"), here("../../texts"))],
  build: { outDir: here(`dist/${mode}`), emptyOutDir: true, reportCompressedSize: false, cssTarget: ["chrome123"] },
}));
