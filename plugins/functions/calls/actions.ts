import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { type Json, SandboxError } from "#kernel/sandbox.ts";
import { type ChatAccess, requireChat } from "#plugins/completions/service.ts";
import type { Models } from "#plugins/models/service.ts";
import type { ActiveFunction, ActiveFunctions } from "./active.ts";
import { toModel } from "./call-context.ts";
import { isForModel } from "./filters.ts";
import type { Invoke } from "./invoke.ts";

/** The body of `POST /api/chat/actions/{action_id}`, unknown keys kept (contract 3.5). */
export interface ActionRequest {
  model: string;
  chat_id?: string | null | undefined;
  session_id?: string | null | undefined;
  /** Message id. */
  id?: string | null | undefined;
  [key: string]: unknown;
}

export interface ActionsParts {
  readonly active: ActiveFunctions;
  readonly invoke: Invoke;
  readonly models: Pick<Models, "resolve">;
  chatAccess(): readonly ChatAccess[];
}

/**
 * Runs an action on a conversation that the caller sends. Throws `not_found` for actions that are not offered beside
 * the model, where administrators may try every active one, and for chats of others.
 */
export function createActions({ active, invoke, models, chatAccess }: ActionsParts) {
  return async (
    actionId: string,
    request: ActionRequest,
    { principal, signal }: { principal: Principal; signal: AbortSignal },
  ): Promise<Json> => {
    await requireChat(request, principal, chatAccess());
    const [model, set] = await Promise.all([models.resolve(principal, request.model), active.current()]);
    const [id = "", ...rest] = actionId.split(".");
    const fn = set.byId.get(id);
    const sub = rest.length > 0 ? rest.join(".") : undefined;
    const isOffered = fn && (principal.role === "admin" || isForModel(fn, model.meta, "actionIds"));
    if (!fn || fn.facts.type !== "action" || !isOffered || !hasSub(fn, sub)) {
      throw new AppError("not_found", "Action not found");
    }
    const facts = {
      principal,
      model: toModel(model.id, model.meta),
      chatId: request.chat_id ?? undefined,
      messageId: request.id ?? undefined,
      sessionId: request.session_id ?? undefined,
      id: sub ?? fn.id,
    };
    try {
      return (await invoke.callLong(fn, { name: "action", body: request, facts, signal })) ?? null;
    } catch (error) {
      throw error instanceof SandboxError ? toActionError(error) : error;
    }
  };
}

export type RunAction = ReturnType<typeof createActions>;

function hasSub({ facts }: ActiveFunction, sub: string | undefined): boolean {
  return Array.isArray(facts.items) ? facts.items.some(({ id }) => id === sub) : sub === undefined;
}

function toActionError(error: SandboxError): AppError {
  return new AppError(error.kind === "timeout" ? "timeout" : "invalid", error.message, { cause: error });
}
