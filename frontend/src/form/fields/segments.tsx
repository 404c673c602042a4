//! A few words of which one is chosen.

interface SegmentsParts {
  readonly label: string;
  readonly options: readonly string[];
  readonly chosen: number;
  readonly disabled?: boolean;
  readonly choose: (index: number) => void;
}

/** Buttons, of which one is pressed. */
export function Segments({ label, options, chosen, disabled = false, choose }: SegmentsParts) {
  return (
    <div className="segments small" role="group" aria-label={label}>
      {options.map((option, index) => (
        <button key={option} type="button" aria-pressed={index === chosen} disabled={disabled} onClick={() => { if (index !== chosen) choose(index); }}>{option}</button>
      ))}
    </div>
  );
}
