import { defineConfig } from "vitest/config";
import { INSTEAD } from "./build/instead.ts";
import { texts } from "./build/texts.ts";

const here = (path: string) => new URL(path, import.meta.url).pathname;

// The server embeds dist/ and finds the entry's files in the manifest.
export default defineConfig({
  base: "/assets/",
  publicDir: false,
  resolve: { alias: INSTEAD },
  plugins: [texts(here("src"), here("../texts"))],
  build: {
    assetsDir: "",
    manifest: true,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // light-dark() stays as it is written.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    assetsInlineLimit: 0,
    rolldownOptions: {
      input: here("src/main.ts"),
      // xyflow says "use client", which means something to servers that render React only.
      onLog: (level, log, handle) => { if (log.code !== "MODULE_LEVEL_DIRECTIVE") handle(level, log); },
    },
  },
  test: { environment: "node", css: true, include: ["src/**/*.test.ts", "build/**/*.test.ts"] },
});
