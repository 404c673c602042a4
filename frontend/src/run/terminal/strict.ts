// xterm writes style elements and style attributes, which the content security policy refuses, and offers no way to make
// them otherwise: it takes most of its elements from the page's own document, whichever it is given. While a terminal is
// open, style elements that scripts make get the page's nonce, and what would be a style attribute of a span is set as a
// style, which the policy allows.

const NAME = "createElement";
const plain = Reflect.get(Document.prototype, NAME) as (this: Document, ...words: unknown[]) => HTMLElement;

let open = 0;

/** Makes elements as the policy wants them, until what it returns is called. */
export function strictElements(): () => void {
  open += 1;
  if (open === 1) Object.defineProperty(document, NAME, { value: create, configurable: true });
  return () => {
    open -= 1;
    // What is not its own any more is the prototype's again.
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
