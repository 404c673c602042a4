//! The canvas without React: the scene, the view, the marks. Gestures and commands operate on it; it updates
//! the surfaces and the list of nodes when the store changes.

import { templateOfTask, type Templates } from "../editor/templates";
import type { EditorState, EditorStore } from "../editor/store";
import { tasksIn, type ItemId, type PipelineDocument, type Task } from "../graph/document";
import { place } from "../graph/edit";
import type { Point } from "../graph/types";
import { brightEdges } from "./bright";
import { Camera } from "./camera";
import { groupColour } from "./groups";
import { inRows, requestLayout } from "./layout";
import { Layouts } from "./layouts";
import { covered, detailOf, isCovered } from "./lod";
import { Marks } from "./marks";
import { Mounts } from "./mounts";
import { onTheme } from "../core/theme";
import { stateColour } from "./paint/colours";
import type { NodeLook } from "./paint/nodes";
import type { Overlay } from "./paint/overlay";
import { Painter, type Painted } from "./paint/painter";
import { Routing } from "./routing";
import { Scene, type SceneEdge, type SceneNode } from "./scene";
import { Ui } from "./ui";
import { inSight, toDrawing, type Rect, type Size, type View } from "./view";

/** Callbacks of the page. */
export interface Doors {
  onOpen: (task: string) => void;
  onLogs?: ((task: string) => void) | undefined;
}

const NONE: ReadonlyMap<string, Point> = new Map();

/** The scale is settled after this many milliseconds without a change. */
const REST = 120;

/** The controller of one canvas. */
export class Stage implements Painted {
  readonly store: EditorStore;
  readonly ui = new Ui();
  readonly layouts = new Layouts(this.ui);
  readonly scene = new Scene();
  readonly camera = new Camera(() => this.scene.bounds());
  readonly mounts = new Mounts(() => { this.paint(); });
  readonly marks = new Marks();
  readonly moving = new Set<SceneNode>();
  readonly #routing = new Routing(this.scene.routes, () => { this.paint(); });
  doors: Doors;
  overlay: Overlay = {};
  count = 0;
  /** The edge under the pointer, or the one that the dragged task would split. */
  hovered: SceneEdge | null = null;
  root: HTMLElement | null = null;
  #painter: Painter | null = null;
  #covered: Rect | null = null;
  #zoom = 0;
  #rest = 0;
  #shown: EditorState;
  #places = NONE;
  readonly #onScene = new Set<() => void>();

  constructor(store: EditorStore, templates: Templates, doors: Doors) {
    this.store = store;
    this.ui.set({ templates });
    this.doors = doors;
    this.#shown = store.state;
    this.scene.show(store.state.document, this.#places);
    this.marks.update(store.state);
  }

  get document(): PipelineDocument {
    return this.store.state.document;
  }

  get templates(): Templates {
    return this.ui.state.templates;
  }

  get view(): View {
    return this.camera.view;
  }

  get size(): Size {
    return this.camera.size;
  }

  get readOnly(): boolean {
    return this.store.state.readOnly;
  }

  get far(): boolean {
    return this.ui.state.detail === "far";
  }

  /** Attaches to its elements. Returns the detach function. */
  attach(root: HTMLElement, base: HTMLCanvasElement, top: HTMLCanvasElement): () => void {
    this.root = root;
    this.camera.size = this.#room();
    this.#painter = new Painter(this, base, top);
    this.camera.begin();
    this.ui.set({ zoom: this.view.zoom });
    const resize = new ResizeObserver(() => { this.#resized(); });
    resize.observe(root);
    const theme = onTheme(() => { this.#painter?.recolour(); });
    const unsubscribe = this.store.subscribe(() => { this.#changed(); });
    this.#arrange();
    this.#refresh(true);
    return () => {
      unsubscribe();
      theme();
      resize.disconnect();
      clearTimeout(this.#rest);
      this.#routing.stop();
      this.mounts.stop();
      this.#painter?.stop();
      this.#painter = null;
    };
  }

  // Painted

  has(node: SceneNode): boolean {
    return this.mounts.nodes.length > 0 && this.mounts.has(`task:${node.name}`);
  }

  look(node: SceneNode): NodeLook {
    const state = this.marks.live?.get(node.name)?.state;
    const difference = this.marks.differences.get(node.name);
    const marked = difference ? ({ added: "good-text", changed: "warning-text" } as const)[difference] : null;
    return {
      colour: state !== undefined ? stateColour(state) : (marked ?? groupColour(templateOfTask(this.templates, node.task))),
      full: state !== undefined || marked !== null,
      problem: this.marks.problems.get(node.name)?.worst ?? null,
      faint: this.ui.state.connecting?.forbidden.has(node.name) ?? false,
    };
  }

  chosen(): Rect[] {
    const { selection } = this.store.state;
    const nodes = tasksIn(selection).map((name) => this.scene.nodes.get(name)).filter((node) => node !== undefined);
    const others = [...this.scene.notes.filter(({ id }) => selection.has(`note:${id}`)), ...this.scene.frames.filter(({ id }) => selection.has(`frame:${id}`))];
    return [...nodes, ...others];
  }

  bright(): Iterable<SceneEdge> {
    const edges = brightEdges(this.scene, this.store.state.selection);
    return this.hovered ? [this.hovered, ...edges] : edges;
  }

  /** Repaints in the next frame: a gesture's feedback, or everything. */
  paint(what: "top" | "all" = "all"): void {
    if (what === "all") this.#painter?.all();
    else this.#painter?.top();
  }

  /** Shows a gesture's feedback. */
  show(overlay: Overlay): void {
    this.overlay = overlay;
    this.paint("top");
  }

  /** The element of a task, frame or note, while it has one. */
  element(id: ItemId): HTMLElement | null {
    return this.root?.querySelector<HTMLElement>(`.react-flow__node[data-id="${CSS.escape(id)}"]`) ?? null;
  }

  /** The drawing coordinates of the pointer. */
  point(event: { clientX: number; clientY: number }): { x: number; y: number } {
    const box = this.root?.getBoundingClientRect();
    return toDrawing(this.view, event.clientX - (box?.left ?? 0), event.clientY - (box?.top ?? 0));
  }

  /** Called when xyflow's view has changed. */
  viewed(view: View): void {
    const zoomed = view.zoom !== this.view.zoom;
    this.camera.viewed(view);
    if (zoomed) this.ui.set({ zoom: view.zoom });
    this.#refresh(false);
  }

  /**
   * Subscribes to position changes without a document change, as from a layout. Returns the unsubscribe
   * function.
   */
  onScene(listener: () => void): () => void {
    this.#onScene.add(listener);
    return () => this.#onScene.delete(listener);
  }

  // Changes

  /**
   * Changes the document as one undo step. Nodes without a document position get their current one, so that
   * nothing else moves.
   */
  apply(label: string, change: (document: PipelineDocument) => PipelineDocument, options: { merge?: string; select?: Iterable<ItemId> } = {}): void {
    const unwritten = this.scene.unwritten;
    this.store.apply(label, (document) => {
      const written = place(document, unwritten);
      const changed = change(written);
      return changed === written ? document : changed;
    }, options);
  }

  task(name: string): Task | undefined {
    return this.scene.nodes.get(name)?.task;
  }

  /** A gesture was cancelled: resets nodes to their document positions. */
  restore(): void {
    this.moving.clear();
    this.scene.reset();
    this.#refresh(true);
  }

  #changed(): void {
    const state = this.store.state;
    const before = this.#shown;
    this.#shown = state;
    const marked = this.marks.update(state);
    if (state.document !== before.document) {
      this.scene.show(state.document, this.#places);
      this.hovered = null;
      this.#arrange();
      this.#refresh(true);
    }
    if (marked) this.paint();
    if (state.selection !== before.selection) {
      this.paint("top");
      this.#follow();
    }
  }

  // The cursor follows a single selected item.
  #follow(): void {
    const [only, ...more] = this.store.state.selection;
    if (only !== undefined && more.length === 0) this.ui.set({ cursor: only });
    else if (only === undefined) this.ui.set({ cursor: null });
  }

  // Tasks without a position get one near the others.
  #arrange(): void {
    if (!this.scene.needsLayout || this.ui.state.layingOut) return;
    const { document } = this;
    const { direction = "right", positions: previous } = document.canvas ?? {};
    void this.layouts.make((signal) => requestLayout(document, direction, { previous, signal })).then((places) => {
      this.#places = new Map(Object.entries(places ?? inRows(this.document)));
      this.scene.show(this.document, this.#places);
      this.camera.begin();
      this.#refresh(true);
      for (const listener of this.#onScene) listener();
      if (this.document !== document) this.#arrange();
    });
  }

  #refresh(changed: boolean): void {
    const { view, size, ui } = this;
    if (changed) this.#routing.begin();
    this.count = this.scene.grid.count(inSight(view, size));
    const detail = detailOf(ui.state.detail, view.zoom, this.count);
    const nearer = detail === "near" && (ui.state.detail === "far" || !this.#covered || !isCovered(this.#covered, view, size));
    const zooms = view.zoom !== this.#zoom;
    this.#zoom = view.zoom;
    clearTimeout(this.#rest);
    // While the scale changes, newly visible nodes are only painted.
    if (nearer && zooms && !changed) this.#rest = window.setTimeout(() => { this.#refresh(false); }, REST);
    if (!changed && (nearer ? zooms : detail === ui.state.detail)) {
      this.#painter?.moved();
      return;
    }
    ui.set({ detail });
    this.#covered = detail === "near" ? covered(view, size) : null;
    this.mounts.want(this.scene, this.#covered, changed);
    this.#painter?.all();
  }

  #room(): Size {
    return { width: this.root?.clientWidth ?? 0, height: this.root?.clientHeight ?? 0 };
  }

  #resized(): void {
    if (this.moving.size > 0) this.camera.size = this.#room();
    else this.camera.resized(this.#room());
    this.#covered = null;
    this.#refresh(false);
    this.#painter?.all();
  }
}
