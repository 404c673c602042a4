// xterm creates style elements and style attributes, which the content security policy rejects, without an
// alternative: it creates most of its elements through the page's global document. While a terminal is open,
// style elements that scripts create get the page's nonce. Style attributes of spans are set as properties,
// which the policy allows.

const NAME = "createElement";
const plain = Reflect.get(Document.prototype, NAME) as (this: Document, ...words: unknown[]) => HTMLElement;

let open = 0;

/** Patches element creation to conform to the policy, until the returned function is called. */
export function strictElements(): () => void {
  open += 1;
  if (open === 1) Object.defineProperty(document, NAME, { value: create, configurable: true });
  return () => {
    open -= 1;
    // Deleting the own property restores the prototype's.
    if (open === 0) Reflect.deleteProperty(document, NAME);
  };
}

function create(...words: unknown[]): HTMLElement {
  const element = plain.apply(document, words);
  if (element instanceof HTMLStyleElement) element.nonce = nonce();
  else if (element instanceof HTMLSpanElement) element.setAttribute = setAttribute;
  return element;
}

function nonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.nonce ?? "";
}

function setAttribute(this: HTMLElement, name: string, value: string): void {
  if (name === "style") this.style.cssText = value;
  else Element.prototype.setAttribute.call(this, name, value);
}
