//! Adding a task by typing its template's name.

import { t } from "../../core/texts";
import { local } from "../../api/knowledge";
import { addTemplate } from "../adding";
import { useStage } from "../context";
import { groupIcon } from "../groups";
import type { Open } from "../ui";
import { useUi } from "../ui";
import { toDrawing } from "../view";
import { Modal } from "./modal";
import { Picker, type Choice } from "./picker";
import { groupName } from "./palette-list";

/** The search box with the list of templates. */
export function QuickAdd({ open }: { open: Extract<Open, { kind: "add" }> }) {
  const stage = useStage();
  const templates = useUi(stage.ui, (state) => state.templates);
  const choices = [...templates.values()].map((one): Choice => ({
    id: one.name,
    label: local(one.label),
    detail: groupName(one.group),
    icon: groupIcon(one),
    words: `${one.name} ${one.label.en}`,
  }));
  const label = open.after === null ? t("canvas.add") : t("canvas.add-after", { task: open.after });
  return (
    <Modal label={label} look="cv-add" at={place(stage.root, open, besideTask(stage, open.after))} onClose={() => { stage.ui.set({ open: null }); }}>
      <Picker
        label={label}
        choices={choices}
        held={stage.ui.held}
        onTake={({ id }) => {
          const template = templates.get(id);
          stage.ui.set({ open: null });
          if (template) addTemplate(stage, template, { at: open.at && toDrawing(stage.view, open.at.x, open.at.y), after: open.after });
        }}
      />
    </Modal>
  );
}

function besideTask(stage: ReturnType<typeof useStage>, after: string | null): { x: number; y: number } | null {
  const node = after === null ? undefined : stage.scene.nodes.get(after);
  const { x, y, zoom } = stage.view;
  return node ? { x: (node.x + node.width) * zoom + x + 24, y: node.y * zoom + y } : null;
}

function place(root: HTMLElement | null, { at }: { at: { x: number; y: number } | null }, task: { x: number; y: number } | null): { x: number; y: number } | undefined {
  const box = root?.getBoundingClientRect();
  const point = at ?? task;
  return box && point ? { x: box.left + point.x, y: box.top + point.y } : undefined;
}
