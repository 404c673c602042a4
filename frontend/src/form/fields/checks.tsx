//! A choice of several words, as checkboxes.

import { useId } from "react";
import type { Json } from "../../graph/document";
import { useBound } from "../context";
import type { Path } from "../../graph/edit";
import { Frame } from "./frame";

interface ChecksParts {
  readonly path: Path;
  readonly title: string;
  readonly options: readonly string[];
  /** The default. */
  readonly usual: readonly string[];
  readonly wordOf: (option: string) => string;
}

/** The checkboxes. A value equal to the default is not written. */
export function ChecksField({ path, title, options, usual, wordOf }: ChecksParts) {
  const id = useId();
  const bound = useBound(path, title, usual);
  const chosen: readonly Json[] = Array.isArray(bound.value) ? bound.value : usual;
  const toggle = (option: string, on: boolean) => {
    bound.set(options.filter((one) => (one === option ? on : chosen.includes(one))));
    bound.seal();
  };
  return (
    <Frame id={id} pointer={bound.pointer} title={title} group>
      {() => (
        <div className="form-checks">
          {options.map((option) => (
            <label key={option} className="check">
              <input type="checkbox" checked={chosen.includes(option)} disabled={bound.readOnly} onChange={(event) => { toggle(option, event.target.checked); }} />
              <span>{wordOf(option)}</span>
            </label>
          ))}
        </div>
      )}
    </Frame>
  );
}
