//! Elements are built here and nowhere from markup: what people wrote can only ever become text.

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

/** An HTML element: `h("button", {class: "button", onclick: save}, "Save")`. A false, null or undefined value is left out. */
export function h<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Record<string, Value> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(name), attributes, children);
}

/** An SVG element, in the same way. */
export function s<K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Record<string, Value> = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

/** A picture of templates/icons.svg; 16 px, decoration only. */
export function icon(name: string): SVGSVGElement {
  return s("svg", { class: "icon", "aria-hidden": "true" }, s("use", { href: `#i-${name}` }));
}

/** The element of this selector; throws when the page has none, because the page and its script belong together. */
export function need<E extends Element = HTMLElement>(selector: string, inside: ParentNode = document): E {
  const found = inside.querySelector<E>(selector);
  if (!found) throw new Error(`the page has no ${selector}`);
  return found;
}

/** Every element of this selector. */
export function all<E extends Element = HTMLElement>(selector: string, inside: ParentNode = document): E[] {
  return [...inside.querySelectorAll<E>(selector)];
}

/** The nearest element around the target of an event that the selector names. */
export function around(event: Event, selector: string): HTMLElement | null {
  return event.target instanceof Element ? event.target.closest<HTMLElement>(selector) : null;
}

/**
 * Gives an element the focus once it is on the page: `ref={focused}`. The browser's own `autofocus` counts for what is
 * there when the page is loaded.
 */
export function focused(element: HTMLElement | null): void {
  element?.focus();
}

/** The JSON that the page carries in `<script type="application/json" id="…">`, typed by who reads it. */
export function carried(id: string): unknown {
  return JSON.parse(need(`#${id}`).textContent);
}
