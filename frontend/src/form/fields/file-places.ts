//! The sources of files: the pipeline's own folder, the project's shared folder, and the volumes with a mount
//! path. The chosen path is written as the task's program will see it.

import { request } from "../../api/client";
import { t } from "../../core/texts";
import type { Knowledge } from "../knowledge";
import type { VolumeUse } from "../task/uses";

/** A file or folder of a source. */
export interface PlaceEntry {
  /** Relative to the source. */
  readonly path: string;
  readonly folder: boolean;
  readonly bytes: number;
}

/** A source of files. */
export interface FilePlace {
  readonly id: string;
  readonly title: string;
  /** The message for an empty source. */
  readonly empty: string;
  /** The content of a folder; for a source without folders, everything. */
  readonly list: (folder: string) => Promise<PlaceEntry[]>;
  /** The path of a file as a task names it. */
  readonly written: (path: string) => string;
}

interface Volume {
  readonly name: string;
  readonly place: { readonly kind: string; readonly path?: string };
  readonly built_in: boolean;
  readonly browsable: boolean;
}

/**
 * All sources, starting with the pipeline's own folder. `uses` are the task's volumes, with their mount
 * paths.
 */
export async function placesOf({ project, code }: Knowledge, uses: readonly VolumeUse[]): Promise<FilePlace[]> {
  const { data } = await request("GET", `/projects/${project}/volumes?limit=200`);
  const volumes = data.items.flatMap((volume): FilePlace[] => {
    const root = volume.browsable ? rootOf(volume, uses) : null;
    return root === null ? [] : [placeOf(project, volume, root)];
  });
  return [codePlace(project, code), ...volumes];
}

/** The path prefix of a volume; null if it has none, and its folder is only in a variable. */
export function rootOf({ name, place, built_in: builtIn }: Volume, uses: readonly VolumeUse[]): string | null {
  const mount = uses.find((use) => use.name === name)?.mount ?? "";
  if (mount !== "") return mount.replace(/\/+$/, "");
  if (place.kind !== "workspace" && !builtIn) return null;
  return place.path ? `{{ workspace }}/${place.path}` : "{{ workspace }}";
}

function codePlace(project: string, code: string | null): FilePlace {
  const list = async (): Promise<PlaceEntry[]> => {
    if (code === null) return [];
    const { data } = await request("GET", `/projects/${project}/code/${code}`);
    return data.files.map(({ path, bytes }) => ({ path, bytes, folder: false }));
  };
  return { id: "", title: t("form.place-code"), empty: t("form.no-files"), list, written: (path) => path };
}

function placeOf(project: string, { name, built_in: builtIn }: Volume, root: string): FilePlace {
  const list = async (folder: string): Promise<PlaceEntry[]> => {
    const { data } = await request("GET", `/projects/${project}/volumes/${name}/files?limit=200&path=${encodeURIComponent(folder)}`);
    const below = folder === "" ? "" : `${folder}/`;
    return data.items.filter(({ kind }) => kind !== "other").map((one) => ({ path: below + one.name, bytes: one.size, folder: one.kind === "folder" }));
  };
  const title = builtIn ? t("form.place-workspace") : t("form.place-volume", { name });
  return { id: name, title, empty: t("form.folder-empty"), list, written: (path) => `${root}/${path}` };
}
