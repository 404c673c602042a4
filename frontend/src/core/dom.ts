//! Creates elements only here, and never from markup: user input can only become text.

type Child = Node | string | number | false | null | undefined;
type Listener = (event: never) => void;
type Value = string | number | boolean | null | undefined | Listener;

const SVG = "http://www.w3.org/2000/svg";

function fill<E extends Element>(element: E, attributes: Record<string, Value>, children: Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.replace(/^on/, ""), value as EventListener);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child) => child !== false && child !== null && child !== undefined).map(asNode));
  return element;
}

function asNode(child: Exclude<Child, false | null | undefined>): Node {
  return child instanceof Node ? child : document.createTextNode(String(child));
}

/**
 * An HTML element: `h("button", {class: "button", onclick: save}, "Save")`. False, null and undefined values
 * are omitted.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Record<string, Value> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(name), attributes, children);
}

/** An SVG element, like `h`. */
export function s<K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Record<string, Value> = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

/** An icon of templates/icons.svg; 16 px, decorative only. */
export function icon(name: string): SVGSVGElement {
  return s("svg", { class: "icon", "aria-hidden": "true" }, s("use", { href: `#i-${name}` }));
}

/** The element of this selector; throws if it is missing, because the page and its script belong together. */
export function need<E extends Element = HTMLElement>(selector: string, inside: ParentNode = document): E {
  const found = inside.querySelector<E>(selector);
  if (!found) throw new Error(`the page has no ${selector}`);
  return found;
}

export function all<E extends Element = HTMLElement>(selector: string, inside: ParentNode = document): E[] {
  return [...inside.querySelectorAll<E>(selector)];
}

/** The closest ancestor of an event's target that matches the selector. */
export function around(event: Event, selector: string): HTMLElement | null {
  return event.target instanceof Element ? event.target.closest<HTMLElement>(selector) : null;
}

/**
 * Focuses an element once it is rendered: `ref={focused}`. The browser's own `autofocus` only works on page
 * load.
 */
export function focused(element: HTMLElement | null): void {
  element?.focus();
}

/** The JSON in the page's `<script type="application/json" id="…">`; the caller casts it. */
export function carried(id: string): unknown {
  return JSON.parse(need(`#${id}`).textContent);
}
