import type { Access } from "#kernel/access/resource.ts";
import type { Egress } from "#kernel/egress/egress.ts";
import type { Events } from "#kernel/events.ts";
import type { Logger } from "#kernel/log.ts";
import type { Sandbox } from "#kernel/sandbox.ts";
import type { Slot } from "#kernel/service.ts";
import type { Notices } from "#kernel/services.ts";
import type { Grants } from "#storage/grants.ts";
import type { Accounts } from "#plugins/accounts/service.ts";
import type { Audit } from "#plugins/audit/service.ts";
import type { Replies } from "#plugins/chats/service.ts";
import type { Completions } from "#plugins/completions/service.ts";
import {
  createCodeStorage,
  createHostComplete,
  createHostFactory,
  createHostFetch,
  createInvoke,
  createUserValves,
  createValveVault,
  type HostParts,
  type UserEvents,
} from "#plugins/functions/service.ts";
import { createKeptFacts } from "./facts/kept-facts.ts";
import { findTool, type ToolRow, updateState } from "./library/tool-store.ts";
import { resourceType, type ToolParts, toScriptId, toToolId } from "./parts.ts";
import { type ToolsDatabase, type ToolsTransaction, toolStorage } from "./tables.ts";

export interface ToolLimits {
  readonly encryptsValves: boolean;
  readonly callSeconds: number;
  readonly fetchSeconds: number;
  readonly fetchBytes: number;
  readonly storageBytes: number;
}

export interface ToolContext {
  readonly config: ToolLimits;
  readonly db: ToolsDatabase;
  readonly transaction: ToolsTransaction;
  readonly log: Logger;
  readonly use: {
    readonly access: Access;
    readonly accounts: Accounts;
    readonly audit: Audit | undefined;
    readonly completions: Completions;
    readonly deployment: { readonly secretKey: string };
    readonly egress: Egress;
    readonly events: Events;
    readonly grants: Grants;
    readonly notices: Notices;
    readonly replies: Replies | undefined;
    readonly sandbox: Sandbox;
    readonly userEvents: Slot<UserEvents>;
  };
}

const channel = "workspace-tools";

/** Puts together what the contributions of this plugin share. */
export async function createToolParts(context: ToolContext): Promise<ToolParts> {
  const { config, db, transaction, log, use } = context;
  const { access, accounts, events, grants, sandbox } = use;
  const vault = createValveVault(use.deployment.secretKey, () => config.encryptsValves);
  const userValves = createUserValves({
    section: "tools",
    kept: accounts.valves,
    vault,
    log,
    announce: (user) => use.notices.notify(channel, { user }),
  });
  // A replica that hears nothing of it would go on with a person's old values.
  const heard = (payload: unknown) => userValves.forget((payload as { user?: string }).user);
  await use.notices.listen(channel, heard, () => userValves.forget());
  const hostParts = toHostParts(context);
  const host = createHostFactory(hostParts);
  const facts = createKeptFacts(sandbox);
  const limits = () => ({ hookSeconds: config.callSeconds, callSeconds: config.callSeconds });
  takeOutAfterOverruns(context);
  return {
    db,
    transaction,
    log,
    access,
    accounts,
    grants,
    events,
    sandbox,
    vault,
    userValves,
    host,
    hostParts,
    tools: access.loader<ToolRow>({
      type: resourceType,
      find: (id) => findTool(db, id),
      ownerOf: ({ user_id: owner }) => owner,
    }),
    invoke: createInvoke({ sandbox, host, userValves, log, limits }),
    loadFacts: facts.load,
    forget(id) {
      facts.forget(id);
      sandbox.forget(toScriptId(id));
    },
    async dropUserValves(id) {
      await accounts.valves.drop("tools", id);
      userValves.forget();
    },
    record: async (entry, tx) => await use.audit?.record(entry, tx),
  };
}

function toHostParts({ config, db, transaction, log, use }: ToolContext): HostParts {
  const complete = createHostComplete(use.completions);
  return {
    log,
    principalOf: (userId) => use.accounts.principalOf(userId),
    fetch: createHostFetch({ egress: use.egress, limits: () => config }),
    // A filter may have the same id; it is not the one that waits.
    complete: { ...complete, run: (call, args) => complete.run({ ...call, id: toScriptId(call.id) }, args) },
    storage: createCodeStorage({ db, transaction, tables: toolStorage, quota: () => config.storageBytes }),
    userEvents: () => use.userEvents.list(),
    replies: use.replies,
  };
}

/** Three overruns within a minute, or one that everybody felt, take a tool out of use until its code is saved again. */
function takeOutAfterOverruns({ db, log, use }: ToolContext): void {
  use.sandbox.onRepeatedOverrun((scriptId, reason) => {
    const id = toToolId(scriptId);
    if (id === undefined) {
      return;
    }
    const error = `Out of use because ${reason}. Save it again to use it.`;
    use.sandbox.note(scriptId, "error", error);
    log.warn({ tool: id, reason }, "a tool was taken out of use");
    updateState(db, id, { error }).catch((cause: unknown) =>
      log.warn({ err: cause, tool: id }, "a tool could not be taken out of use"),
    );
  });
}
