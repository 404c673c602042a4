// The part of a task that shows what its workers use: plots are loaded when somebody opens it.

/** Follows what is opened, also what comes later: a task beside the run. */
export function watchUsage(): void {
  document.addEventListener(
    "toggle",
    (event) => {
      const box = event.target;
      if (!(box instanceof HTMLDetailsElement) || !box.open || box.dataset["usage"] === undefined) return;
      void import("./usage").then(({ follow }) => follow(box));
    },
    true,
  );
}
