//! The navigation on small screens, and sign-out.

import { signOut } from "../api/session";
import { around } from "./dom";
import { trying } from "./form";

/** Activates the side bar. */
export function watchSide(): void {
  const side = document.querySelector<HTMLElement>("#side");
  const toggle = side?.querySelector<HTMLButtonElement>(".side-toggle");
  if (!side || !toggle) return;
  const show = (open: boolean) => {
    side.toggleAttribute("data-open", open);
    toggle.setAttribute("aria-expanded", String(open));
  };
  toggle.addEventListener("click", () => { show(!side.hasAttribute("data-open")); });
  side.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !side.hasAttribute("data-open")) return;
    show(false);
    toggle.focus();
  });
  side.addEventListener("click", (event) => {
    if (around(event, "[data-sign-out]")) void trying(leave);
  });
}

async function leave(): Promise<void> {
  await signOut();
  location.assign("/sign-in");
}
