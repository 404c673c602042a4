//! Resizes a note by its corner.

import { t } from "../../core/texts";
import { changeNote } from "../../graph/edit";
import type { SceneNote } from "../scene";
import { NOTE } from "../size";
import { onGrid } from "../snap";
import type { Stage } from "../stage";
import type { Gesture } from "./gesture";

export class Resize implements Gesture {
  readonly #stage: Stage;
  readonly #note: SceneNote;
  readonly #element: HTMLElement | null;
  #size: [number, number];

  constructor(stage: Stage, note: SceneNote) {
    this.#stage = stage;
    this.#note = note;
    this.#element = stage.element(`note:${note.id}`);
    this.#size = [note.width, note.height];
  }

  move(x: number, y: number): void {
    this.#size = [Math.max(NOTE.least, onGrid(x - this.#note.x)), Math.max(NOTE.least, onGrid(y - this.#note.y))];
    this.#draw(this.#size);
  }

  end(): void {
    const { id } = this.#note;
    this.#stage.apply(t("canvas.step-resize"), (document) => changeNote(document, id, { size: this.#size }));
  }

  cancel(): void {
    this.#draw([this.#note.width, this.#note.height]);
  }

  #draw([width, height]: [number, number]): void {
    if (!this.#element) return;
    this.#element.style.width = `${width}px`;
    this.#element.style.height = `${height}px`;
  }
}
