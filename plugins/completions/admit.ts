import { hasPermission } from "#kernel/access/permissions.ts";
import { AppError } from "#kernel/errors.ts";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import type { Principal } from "#kernel/access/principal.ts";
import type { Models, ResolvedModel } from "#plugins/models/service.ts";
import { pickPermissions, withControls } from "./controls.ts";
import { toDelivery } from "./mode.ts";
import type { ChatAccess, TerminalAccess } from "./service.ts";

export interface Gates {
  readonly principal: Principal;
  readonly models: Models;
  readonly chats: readonly ChatAccess[];
  readonly terminals: readonly TerminalAccess[];
}

/**
 * Resolves the model, as the request's picks of its controls make it, and checks that the caller may write the chat
 * and open the terminal the request names. Throws `not_found` for unknown and foreign models and chats alike,
 * `unavailable` for terminals, before anything is written or an upstream is asked.
 */
export async function admit(
  request: CompletionRequest,
  { principal, models, chats, terminals }: Gates,
): Promise<ResolvedModel> {
  const chatId = request.chat_id;
  if (chatId && !isTemporary(chatId)) {
    const known = await Promise.all(chats.map((chat) => chat.mayWrite(principal, chatId)));
    if (!known.includes(true)) {
      throw new AppError("not_found", "Chat not found");
    }
  }
  if (toDelivery(request) !== "http" && chats.length === 0) {
    throw new AppError(
      "unavailable",
      "This deployment does not write replies into chats. Send the request without chat_id, id and session_id.",
    );
  }
  const model = await models.resolve(principal, request.model);
  if (request.terminal_id) {
    await requireTerminal(request.terminal_id, { principal, terminals, chatId: chatId || undefined });
  }
  return withControls(model, {
    picked: request.params?.["model_controls"],
    mayPick: pickPermissions.every((permission) => hasPermission(principal, permission)),
  });
}

/** A chat that is stored nowhere: `temporary:<uuid>`. */
export function isTemporary(chatId: string): boolean {
  return chatId.startsWith("temporary:");
}

/** Core API, chat completion rule 13. */
async function requireTerminal(
  id: string,
  { principal, terminals, chatId }: Pick<Gates, "principal" | "terminals"> & { chatId: string | undefined },
): Promise<void> {
  if (terminals.length === 0) {
    throw new AppError("unavailable", "The terminal is not available.");
  }
  await Promise.all(terminals.map((terminal) => terminal.require(principal, id, chatId)));
}
