import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { AutomationParts } from "./parts.ts";
import type { AutomationUpdate } from "./schema.ts";
import type { AutomationData } from "./tables.ts";

/** Throws for a model, folder or terminal that the caller may not use. */
export async function requirePlaces(
  caller: Principal,
  form: Pick<AutomationUpdate, "folder_id"> & { readonly data?: AutomationData | undefined },
  parts: AutomationParts,
): Promise<void> {
  const { models, folders } = parts;
  if (form.data !== undefined) {
    try {
      await models.resolve(caller, form.data.model_id);
    } catch {
      throw new AppError("invalid", "data.model_id: Model not found");
    }
  }
  if (form.folder_id) {
    const found = await Promise.all(folders.list().map((one) => one.find(caller, form.folder_id as string)));
    if (!found.some((folder) => folder?.user_id === caller.userId)) {
      throw new AppError("not_found", "folder_id: Folder not found");
    }
  }
  requireTerminal(caller, form.data?.terminal, parts);
}

/** Throws `invalid` for a terminal that runs of automations cannot use: nothing is dropped in silence (contract D.37). */
export function requireTerminal(
  caller: Principal,
  terminal: AutomationData["terminal"],
  { terminals }: Pick<AutomationParts, "terminals">,
): void {
  if (!terminal) {
    return;
  }
  const known = terminals.list();
  if (known.length === 0) {
    throw new AppError("invalid", "data.terminal.server_id: Terminals are switched off.");
  }
  for (const one of known) {
    try {
      one.requireForAutomation(caller, terminal.server_id);
    } catch (error) {
      throw error instanceof AppError
        ? new AppError("invalid", `data.terminal.server_id: ${error.message}`)
        : error;
    }
  }
}

/** Makes the terminal ready for a run: it may be used still, and works in the directory that the automation names. */
export async function enterTerminal(
  principal: Principal,
  { terminal, chatId }: { terminal: AutomationData["terminal"]; chatId: string },
  { terminals }: Pick<AutomationParts, "terminals">,
): Promise<void> {
  requireTerminal(principal, terminal, { terminals });
  if (terminal?.cwd) {
    const place = { chatId, directory: terminal.cwd };
    await Promise.all(terminals.list().map((one) => one.enter(principal, terminal.server_id, place)));
  }
}
