import type { Principal } from "#kernel/access/principal.ts";
import type { PluginContext } from "#kernel/plugin.ts";
import type { Sandbox } from "#kernel/sandbox.ts";
import type { sandbox } from "#kernel/sandbox.ts";
import type { OptionalRef, SlotRef } from "#kernel/service.ts";
import type { access } from "#kernel/access/resource.ts";
import type { deployment, egress, events, notices } from "#kernel/services.ts";
import type { accounts } from "#plugins/accounts/service.ts";
import type { Audit } from "#plugins/audit/service.ts";
import type { Replies } from "#plugins/chats/service.ts";
import type { ChatAccess, completions } from "#plugins/completions/service.ts";
import type { models } from "#plugins/models/service.ts";
import { type ActiveFunction, createActiveFunctions, toActiveFunction } from "./calls/active.ts";
import { announceUserValves, type FunctionChanges, openFunctionChanges } from "./library/changes.ts";
import type { functionVariables } from "./config.ts";
import { findFunction, type FunctionRow, listActive, switchOff } from "./library/function-store.ts";
import type { RecordEntry } from "./library/record-change.ts";
import { createHostComplete } from "./host/complete.ts";
import { createHostFetch } from "./host/fetch.ts";
import { createHostFactory, type HostParts } from "./host/create-host.ts";
import { createInvoke } from "./calls/invoke.ts";
import { loadFacts, toFunctionId, toScript, toScriptId } from "./calls/load.ts";
import type { UserEvents } from "./host/user-events.ts";
import { createCodeStorage } from "./host/storage.ts";
import { functionStorage, type FunctionTables } from "./tables.ts";
import { createUserValves } from "./valves/user-valves.ts";
import { createValveVault, toValvePlace } from "./valves/valve-vault.ts";

/** The services that the parts of this plugin are made of. */
export interface FunctionUses {
  readonly access: typeof access;
  readonly accounts: typeof accounts;
  readonly audit: OptionalRef<Audit>;
  readonly chatAccess: SlotRef<ChatAccess>;
  readonly replies: OptionalRef<Replies>;
  readonly completions: typeof completions;
  readonly deployment: typeof deployment;
  readonly egress: typeof egress;
  readonly events: typeof events;
  readonly models: typeof models;
  readonly notices: typeof notices;
  readonly sandbox: typeof sandbox;
  readonly userEvents: SlotRef<UserEvents>;
}

export type FunctionContext = Pick<
  PluginContext<typeof functionVariables, FunctionUses & Record<string, never>, FunctionTables>,
  "config" | "use" | "db" | "transaction" | "log"
>;

export type FunctionParts = Awaited<ReturnType<typeof createFunctionParts>>;

/** Puts together what the contributions of this plugin share. */
export async function createFunctionParts(context: FunctionContext) {
  const { config, use, db, log } = context;
  const vault = createValveVault(use.deployment.secretKey, () => config.encryptsValves);
  const userValves = createUserValves({
    section: "functions",
    kept: use.accounts.valves,
    vault,
    log,
    announce: (userId) => announceUserValves(use.notices, userId),
  });
  const openValves = (row: FunctionRow) => vault.open(row.valves, toValvePlace(row.id));
  let changes: FunctionChanges | undefined;
  /** Off at once, with a reason that administrators see. */
  const fail = async (row: { id: string; content?: string }, reason: string): Promise<void> => {
    if (await switchOff(db, row, reason)) {
      use.sandbox.note(toScriptId(row.id), "error", reason);
      // Before anything else: what administrators see as off must not run any more.
      await changes?.changed(row.id);
      log.warn({ function: row.id, reason }, "a function was switched off");
      const found = await findFunction(db, row.id);
      changes?.announce("disabled", null, found ?? { id: row.id, name: row.id, type: "", error: reason });
    }
  };
  const active = createActiveFunctions({
    sandbox: use.sandbox,
    log,
    list: async () => (config.enabled ? await listActive(db) : []),
    openValves,
    failed: fail,
  });
  changes = await openFunctionChanges({
    ...use,
    forget: active.forget,
    refresh: active.refresh,
    forgetValves: userValves.forget,
  });
  const hostParts = toHostParts(context);
  const host = createHostFactory(hostParts);
  const invoke = createInvoke({ sandbox: use.sandbox, host, userValves, log, limits: () => config });
  switchOffAfterOverruns(use.sandbox, (id, reason) =>
    fail({ id }, reason).catch((error: unknown) =>
      log.error({ err: error, function: id }, "a function could not be switched off"),
    ),
  );
  return {
    functions: use.access.loader<FunctionRow>({
      type: "function",
      find: (id) => findFunction(db, id),
      ownerOf: ({ user_id: owner }) => owner,
      // Administrators answer for all code, whatever BYPASS_ADMIN_ACCESS_CONTROL says (contract 4.1).
      reachable: async ({ role }) => role === "admin",
    }),
    record: (async (entry, transaction) => await use.audit?.record(entry, transaction)) satisfies RecordEntry,
    vault,
    userValves,
    active,
    changes,
    hostParts,
    host,
    invoke,
    loadInactive: (id: string) => loadInactive(context, id, openValves),
    dropUserValves: async (id: string) => {
      await use.accounts.valves.drop("functions", id);
      userValves.forget();
    },
    principalOf: (userId: string): Promise<Principal | undefined> => use.accounts.principalOf(userId),
  };
}

function toHostParts({ config, use, db, transaction, log }: FunctionContext): HostParts {
  return {
    log,
    principalOf: (userId) => use.accounts.principalOf(userId),
    fetch: createHostFetch({ egress: use.egress, limits: () => config }),
    complete: createHostComplete(use.completions),
    storage: createCodeStorage({
      db,
      transaction,
      tables: functionStorage,
      quota: () => config.storageBytes,
    }),
    userEvents: () => use.userEvents.list(),
    replies: use.replies,
  };
}

/** Three overruns within a minute, or one that everybody felt, switch a function off; tools of other plugins have other names. */
function switchOffAfterOverruns(box: Sandbox, off: (id: string, reason: string) => Promise<void>): void {
  box.onRepeatedOverrun((scriptId, reason) => {
    const id = toFunctionId(scriptId);
    if (id !== undefined) {
      void off(id, `Switched off because ${reason}`);
    }
  });
}

async function loadInactive(
  { use, db }: FunctionContext,
  id: string,
  openValves: (row: FunctionRow) => Readonly<Record<string, unknown>>,
): Promise<ActiveFunction | undefined> {
  const row = await findFunction(db, id);
  if (row === undefined) {
    return undefined;
  }
  const script = toScript(row);
  const facts = await loadFacts(use.sandbox, script);
  return toActiveFunction(row, { script, facts, saved: openValves(row) });
}
