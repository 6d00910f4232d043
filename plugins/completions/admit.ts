import { hasPermission } from "#kernel/access/permissions.ts";
import { type MaybePromise, mapMaybe } from "#kernel/maybe-promise.ts";
import { AppError } from "#kernel/errors.ts";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import type { Principal } from "#kernel/access/principal.ts";
import type { ToolRegistry } from "#kernel/tools/registry.ts";
import type { Models, ResolvedModel } from "#plugins/models/service.ts";
import { pickPermissions, withControls } from "./controls.ts";
import type { DirectModels, TerminalAccess } from "./service.ts";

/** What decides whether a run may begin. */
export interface Admission {
  readonly models: Models;
  readonly toolRegistry: ToolRegistry;
  terminals(): readonly TerminalAccess[];
  directModels(): readonly DirectModels[];
}

export interface Admitting {
  readonly principal: Principal;
  /** What the request's model has been resolved to already. */
  readonly model?: ResolvedModel | undefined;
}

/**
 * Resolves the model, as the request's picks of its controls make it, and checks that the caller may use the tools and
 * the terminal that the request names. Throws `not_found` for unknown and foreign models and tools alike, `unavailable`
 * for terminals, before anything is written or an upstream is asked. Core API, chat completion rules 12 and 13.
 */
export function admitModel(
  request: CompletionRequest,
  { principal, model: known }: Admitting,
  admission: Admission,
): MaybePromise<ResolvedModel> {
  const resolving =
    known ?? resolveDirect(request, admission) ?? admission.models.resolve(principal, request.model);
  return mapMaybe(resolving, (model) =>
    mapMaybe(requireNamed(request, principal, admission), () =>
      withControls(model, {
        picked: request.params?.["model_controls"],
        mayPick: pickPermissions.every((permission) => hasPermission(principal, permission)),
      }),
    ),
  );
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

/** Undefined where the request names neither tools nor a terminal. */
function requireNamed(
  { tool_ids: toolIds, terminal_id: terminalId, chat_id: chatId }: CompletionRequest,
  principal: Principal,
  { toolRegistry, terminals }: Admission,
): MaybePromise<void> {
  const granted =
    toolIds && toolIds.length > 0 ? toolRegistry.requireGranted({ principal, toolIds }) : undefined;
  return mapMaybe(granted, () =>
    terminalId
      ? requireTerminal(terminalId, { principal, terminals: terminals(), chatId: chatId || undefined })
      : undefined,
  );
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
