//! Theme changes that scripts must handle.

/** Subscribes to possible theme changes. Returns the unsubscribe function. */
export function onTheme(changed: () => void): () => void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", changed);
  const watch = new MutationObserver(changed);
  watch.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  return () => {
    dark.removeEventListener("change", changed);
    watch.disconnect();
  };
}
