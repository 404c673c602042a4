// Updates a part of the page to the server's new rendering, changing only differences: focus, selection,
// scroll positions, and opened or checked elements stay.

/** Attributes that belong to the user, not to the server: opened, checked, typed. */
const READERS = new Set(["open", "checked", "value"]);
const TYPED = "input, textarea, select, option, details, dialog";
/** Attributes that the page's clock reads, whose text it writes. */
const CLOCK = ["datetime", "data-since"];

/**
 * Makes `old` equal to `fresh`. Children are matched by id, else by position. Elements with `data-keep` are
 * left to their script.
 */
export function morph(old: Element, fresh: Element): void {
  if (old.hasAttribute("data-keep")) return;
  const ticks = CLOCK.some((name) => old.hasAttribute(name) && old.getAttribute(name) === fresh.getAttribute(name));
  attributes(old, fresh);
  if (!ticks) children(old, fresh);
}

function attributes(old: Element, fresh: Element): void {
  const readers = old.matches(TYPED);
  const stays = (name: string): boolean => readers && READERS.has(name);
  for (const { name, value } of [...fresh.attributes]) {
    if (!stays(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  for (const { name } of [...old.attributes]) {
    // The page's clock sets the titles of times.
    if (!stays(name) && name !== "title" && !fresh.hasAttribute(name)) old.removeAttribute(name);
  }
}

function children(old: Element, fresh: Element): void {
  const byId = new Map<string, Element>();
  for (const child of old.children) if (child.id !== "") byId.set(child.id, child);
  let place: ChildNode | null = old.firstChild;
  for (const wanted of [...fresh.childNodes]) {
    const known = wanted instanceof Element && wanted.id !== "" ? byId.get(wanted.id) : undefined;
    if (known !== undefined) {
      if (known === place) place = place.nextSibling;
      else old.insertBefore(known, place);
      morph(known, wanted as Element);
    } else if (place !== null && alike(place, wanted)) {
      const here: ChildNode = place;
      place = place.nextSibling;
      if (here instanceof Element) morph(here, wanted as Element);
      else if (here.nodeValue !== wanted.nodeValue) here.nodeValue = wanted.nodeValue;
    } else {
      old.insertBefore(document.importNode(wanted, true), place);
    }
  }
  while (place !== null) {
    const next: ChildNode | null = place.nextSibling;
    place.remove();
    place = next;
  }
}

/** Whether one can become the other: of the same kind, and without different ids. */
function alike(old: Node, fresh: Node): boolean {
  if (old.nodeType !== fresh.nodeType) return false;
  if (!(old instanceof Element) || !(fresh instanceof Element)) return true;
  return old.tagName === fresh.tagName && old.id === fresh.id;
}
