// Packages that others stand in for, in the build and in the benchmarks: see docs/decisions/0016-preact.md.

const noTransition = new URL("../src/canvas/no-transition.ts", import.meta.url).pathname;

export const INSTEAD = {
  "react": "preact/compat",
  "react-dom": "preact/compat",
  "d3-transition": noTransition,
};
