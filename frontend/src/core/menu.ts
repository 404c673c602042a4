//! Menus are <details data-menu>: Escape, a click outside and another menu close them; arrows navigate
//! inside.

import { all, around } from "./dom";

/** Activates every menu of the page, including those added later. */
export function watchMenus(): void {
  document.addEventListener("toggle", (event) => {
    const menu = event.target;
    if (!(menu instanceof HTMLDetailsElement) || !menu.open || !menu.matches("[data-menu]")) return;
    for (const other of all<HTMLDetailsElement>("details[data-menu][open]")) if (other !== menu) other.open = false;
  }, true);
  document.addEventListener("click", (event) => {
    const inside = around(event, "details[data-menu]");
    for (const menu of all<HTMLDetailsElement>("details[data-menu][open]")) if (menu !== inside) menu.open = false;
  });
  document.addEventListener("keydown", onKey);
}

function onKey(event: KeyboardEvent): void {
  const menu = around(event, "details[data-menu][open]");
  if (!(menu instanceof HTMLDetailsElement)) return;
  if (event.key === "Escape") {
    menu.open = false;
    menu.querySelector("summary")?.focus();
  } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    const items = all("a, button, summary", menu);
    const at = items.findIndex((item) => item === document.activeElement);
    const next = (at + (event.key === "ArrowDown" ? 1 : -1) + items.length) % items.length;
    items[next]?.focus();
  }
}
