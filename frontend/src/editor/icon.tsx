//! A picture of templates/icons.svg, in React. It is decoration: a word stands beside it, or the control has a label.

/** 16 px; `name` is that of core/dom.ts' `icon`. */
export function Icon({ name }: { name: string }) {
  return (
    <svg className="icon" aria-hidden="true">
      <use href={`#i-${name}`} />
    </svg>
  );
}
