import { hasPermission } from "#kernel/access/permissions.ts";
import { AppError } from "#kernel/errors.ts";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import type { Principal } from "#kernel/access/principal.ts";
import type { ToolRegistry } from "#kernel/tools/registry.ts";
import type { Models, ResolvedModel } from "#plugins/models/service.ts";
import { pickPermissions, withControls } from "./controls.ts";
import type { ContextItems, DirectModels, FileAccess, TerminalAccess } from "../service.ts";
import { requireItems } from "./require-items.ts";

/** What decides whether a run may begin. */
export interface Admission {
  readonly models: Models;
  readonly toolRegistry: ToolRegistry;
  terminals(): readonly TerminalAccess[];
  directModels(): readonly DirectModels[];
  files(): readonly FileAccess[];
  contextItems(): readonly ContextItems[];
}

export interface Admitting {
  readonly principal: Principal;
  /** What the request's model has been resolved to already. */
  readonly model?: ResolvedModel | undefined;
}

/**
 * Resolves the model, as the request's picks of its controls make it, and checks that the caller may use the tools, the
 * files and the terminal that the request names. Throws `not_found` for unknown and foreign models, tools and files
 * alike, `unavailable` for terminals, before anything is written or an upstream is asked. Core API, chat completion
 * rules 12 and 13; contract D.37.
 */
export async function admitModel(
  request: CompletionRequest,
  { principal, model: known }: Admitting,
  admission: Admission,
): Promise<ResolvedModel> {
  const model =
    known ?? resolveDirect(request, admission) ?? (await admission.models.resolve(principal, request.model));
  await requireNamed(request, principal, admission);
  return withControls(model, {
    picked: request.params?.["model_controls"],
    mayPick: pickPermissions.every((permission) => hasPermission(principal, permission)),
  });
}

/** Undefined for a model of the platform: clients describe those, too. */
function resolveDirect(
  { model: id, model_item: item, session_id: sessionId }: CompletionRequest,
  { models, directModels }: Admission,
): ResolvedModel | undefined {
  if (item?.["direct"] !== true || item["id"] !== id) {
    return undefined;
  }
  const [way] = directModels();
  const opened = way?.open({ id, item, sessionId: sessionId ?? undefined });
  return opened && models.direct(opened.model, opened.provider);
}

async function requireNamed(
  { tool_ids: toolIds, terminal_id: terminalId, chat_id: chatId, files: named }: CompletionRequest,
  principal: Principal,
  { toolRegistry, terminals, files, contextItems }: Admission,
): Promise<void> {
  if (toolIds && toolIds.length > 0) {
    await toolRegistry.requireGranted({ principal, toolIds });
  }
  if (named && named.length > 0) {
    await requireItems(named, { principal, files: files(), known: contextItems() });
  }
  if (terminalId) {
    await requireTerminal(terminalId, { principal, terminals: terminals(), chatId: chatId || undefined });
  }
}

/** Core API, chat completion rule 13. */
async function requireTerminal(
  id: string,
  {
    principal,
    terminals,
    chatId,
  }: { principal: Principal; terminals: readonly TerminalAccess[]; chatId: string | undefined },
): Promise<void> {
  if (terminals.length === 0) {
    throw new AppError("unavailable", "The terminal is not available.");
  }
  await Promise.all(terminals.map((terminal) => terminal.require(principal, id, chatId)));
}
