import { constants } from "node:fs";
import { lstat, open } from "node:fs/promises";
import { join } from "node:path";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { Models } from "#plugins/models/service.ts";
import type { Workspace } from "./workspaces.ts";

export interface ModelChoice {
  readonly models: Pick<Models, "list">;
  /** GATEWAY_MODEL and DEFAULT_MODELS as they are now. */
  settings(): { readonly model: string; readonly defaults: string };
  openFolder(folder: string): Promise<string>;
}

/** Why a task runs on a model (document 2, Gateway: priority order). */
export type ModelReason = "setting" | "workspace" | "default" | "first";

/**
 * The model of a task: GATEWAY_MODEL, then the workspace's own (`.gw/model`, else its record's), then the default chat
 * model, then the first model of the first connection. Throws `unavailable` without any.
 */
export async function chooseModel(
  owner: Principal,
  workspace: Workspace,
  { models, settings, openFolder }: ModelChoice,
): Promise<{ id: string; reason: ModelReason }> {
  const { model, defaults } = settings();
  if (model !== "") {
    return { id: model, reason: "setting" };
  }
  const own = (await readOverride(await openFolder(workspace.folder))) ?? workspace.model;
  if (own) {
    return { id: own, reason: "workspace" };
  }
  const [first = ""] = defaults.split(",").map((id) => id.trim());
  if (first !== "") {
    return { id: first, reason: "default" };
  }
  const [best] = (await models.list(owner))
    .filter((item) => item["preset"] !== true && connectionOf(item) !== undefined)
    .toSorted((a, b) => Number(connectionOf(a)) - Number(connectionOf(b)));
  if (best === undefined) {
    throw new AppError("unavailable", "No model is connected that could work in this workspace.");
  }
  return { id: String(best["id"]), reason: "first" };
}

/** Backends of the local runtime come after connections of the common format, as in the model list (contract 2.1). */
const runtimeBase = 1_000_000;

/**
 * The place of a model's connection among all; undefined for models that belong to none, such as the guide, which runs
 * no tools.
 */
function connectionOf({ urlIdx, urls }: Readonly<Record<string, unknown>>): number | undefined {
  if (typeof urlIdx === "number") {
    return urlIdx;
  }
  return Array.isArray(urls) ? runtimeBase + Math.min(...(urls as number[])) : undefined;
}

const longestId = 1000;

/** The first line of `.gw/model`. Throws `invalid` where it or its folder is a link or a device. */
export async function readOverride(root: string): Promise<string | undefined> {
  const folder = join(root, ".gw");
  const [above, itself] = await Promise.all([kindOf(folder), kindOf(join(folder, "model"))]);
  if (above === undefined || itself === undefined) {
    return undefined;
  }
  if (!above.isDirectory() || !itself.isFile() || itself.nlink > 1) {
    throw new AppError("invalid", "The override .gw/model of the workspace is a link or no plain file.");
  }
  const file = await open(join(folder, "model"), constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(longestId), 0, longestId, 0);
    return buffer.toString("utf8", 0, bytesRead).split(/\r?\n/, 1)[0]?.trim() || undefined;
  } finally {
    await file.close();
  }
}

async function kindOf(path: string) {
  return await lstat(path).catch(() => undefined);
}
