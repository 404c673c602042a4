//! A segmented control: one of a few options.

interface SegmentsParts {
  readonly label: string;
  readonly options: readonly string[];
  readonly chosen: number;
  readonly disabled?: boolean;
  readonly choose: (index: number) => void;
}

/** A group of buttons, one of which is pressed. */
export function Segments({ label, options, chosen, disabled = false, choose }: SegmentsParts) {
  return (
    <div className="segments small" role="group" aria-label={label}>
      {options.map((option, index) => (
        <button key={option} type="button" aria-pressed={index === chosen} disabled={disabled} onClick={() => { if (index !== chosen) choose(index); }}>{option}</button>
      ))}
    </div>
  );
}
