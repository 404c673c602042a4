// Brings a part of the page to what the server renders now, touching only what differs: focus, selection, scroll
// positions and what somebody has opened or ticked stay.

/** Attributes that belong to the reader, not to the server: what is opened, ticked, typed. */
const READERS = new Set(["open", "checked", "value"]);
const TYPED = "input, textarea, select, option, details, dialog";
/** What the page's clock writes: the element says which moment or amount it shows. */
const CLOCK = ["datetime", "data-since"];

/**
 * Makes `old` equal to `fresh`. Children are matched by their id, else by their place. Elements with `data-keep` are
 * left to the script that draws them.
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
    // The page's clock gives moments their titles.
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

/** Whether one can become the other: of the same kind, and neither is one that an id tells apart. */
function alike(old: Node, fresh: Node): boolean {
  if (old.nodeType !== fresh.nodeType) return false;
  if (!(old instanceof Element) || !(fresh instanceof Element)) return true;
  return old.tagName === fresh.tagName && old.id === fresh.id;
}
