import type { Principal } from "#kernel/access/principal.ts";
import { defineSlot } from "#kernel/service.ts";

/** Where a call of a function belongs, as far as it is known. */
export interface UserEventPlace {
  readonly chatId: string | undefined;
  readonly messageId: string | undefined;
}

/** One event for a person's open clients: `{chat_id, message_id, data: {type, data}}` (contract 3.4). */
export interface UserEvent {
  readonly chat_id: string | null;
  readonly message_id: string | null;
  readonly data: { readonly type: string; readonly data: unknown };
}

/**
 * Sends events of functions to the people they run for; filled by the plugin that holds their sockets. While it is
 * empty, events are lost and questions fail.
 */
export interface UserEvents {
  /** Sends to the open clients of this person only. */
  emit(principal: Principal, event: UserEvent): void;
  /**
   * Asks one client and resolves with its answer. Rejects with an AppError when `sessionId` is no open client of this
   * person, when no answer comes in time, or when `signal` aborts.
   */
  ask(principal: Principal, sessionId: string, question: UserEvent, signal?: AbortSignal): Promise<unknown>;
}

export const userEvents = defineSlot<UserEvents>("functions.user-events");

// Workspace tools are code of people as well: what both kinds need stands here and is used by both.
export { type CallFacts, toModel } from "./calls/call-context.ts";
export { type Capabilities, type CodeFacts, declaredCapabilities, toCodeFacts } from "./calls/facts.ts";
export { createInvoke, type ReadyCode } from "./calls/invoke.ts";
export { loadShape, toSandboxMessage } from "./calls/load.ts";
export { codeLimits } from "./config.ts";
export { createHostComplete } from "./host/complete.ts";
export { createHostFactory, type CreateHost, type HostParts } from "./host/create-host.ts";
export { createHostFetch } from "./host/fetch.ts";
export { createCodeStorage, createPassingStorage, forgetUser } from "./host/storage.ts";
export { createTrialHost, toError, tryCode } from "./library/dry-run.ts";
export { toCodeId } from "./library/library.ts";
export { createUrlLoader } from "./library/load-url.ts";
export { toDescription } from "./library/record.ts";
export { toWidened } from "./library/widening.ts";
export { valveRoutes } from "./routes/valves.ts";
export { CodeError, DryRunTrace, IdParams, LoadUrl, LogLines, maxContent, VersionParams } from "./schema.ts";
export { createCodeValves, type CodeValves } from "./valves/code-valves.ts";
export { sealStored } from "./valves/seal-stored.ts";
export { createUserValves, type UserValves } from "./valves/user-valves.ts";
export type { ValveSet } from "./valves/valve-set.ts";
export { createValveVault, type ValveVault } from "./valves/valve-vault.ts";
