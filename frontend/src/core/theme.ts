//! Whether the page is light or dark, as far as scripts must know.

/** Calls when the theme may have changed; returns how to stop. */
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
