//! An icon of templates/icons.svg, in React. It is decorative: there is a word beside it, or the control has
//! a label.

/** 16 px; `name` is as for `icon` of core/dom.ts. */
export function Icon({ name }: { name: string }) {
  return (
    <svg className="icon" aria-hidden="true">
      <use href={`#i-${name}`} />
    </svg>
  );
}
