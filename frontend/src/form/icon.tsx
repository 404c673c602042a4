//! A picture of the page's own set; decoration only.

/** `name` is one of templates/icons.svg. */
export function Icon({ name }: { name: string }) {
  return <svg className="icon" aria-hidden="true"><use href={`#i-${name}`} /></svg>;
}
