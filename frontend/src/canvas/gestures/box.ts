//! Box selection. Shift extends the current selection.

import type { ItemId } from "../../graph/document";
import { between } from "../paint/painter";
import type { Stage } from "../stage";
import { holds, touches } from "../view";
import type { Gesture } from "./gesture";

/** Selects tasks and notes that the box touches, and frames inside it. */
export class Box implements Gesture {
  readonly #stage: Stage;
  readonly #from: { x: number; y: number };
  readonly #before: ReadonlySet<ItemId>;

  constructor(stage: Stage, x: number, y: number) {
    this.#stage = stage;
    this.#from = { x, y };
    this.#before = stage.store.state.selection;
  }

  move(x: number, y: number): void {
    const { scene, store } = this.#stage;
    const box = between(this.#from.x, this.#from.y, x, y);
    const found = [...scene.grid.within(box)].map(({ name }): ItemId => `task:${name}`);
    const notes = scene.notes.filter((note) => touches(note, box)).map(({ id }): ItemId => `note:${id}`);
    const frames = scene.frames.filter((frame) => holds(box, frame)).map(({ id }): ItemId => `frame:${id}`);
    this.#stage.show({ box });
    store.select([...this.#before, ...found, ...notes, ...frames]);
  }

  end(): void {
    this.#stage.show({});
  }

  cancel(): void {
    this.#stage.store.select(this.#before);
    this.#stage.show({});
  }
}
