import type { Principal } from "#kernel/access/principal.ts";
import type { GrantInput } from "#storage/grants.ts";
import { announce, type PromptEvent, type PromptParts } from "../parts.ts";
import { type PromptDatabase, type PromptRow, resourceType } from "../tables.ts";
import { lockPrompt } from "./prompt-store.ts";
import { showPrompt, toEntry } from "./record.ts";

/** The permission that opening a prompt to everybody needs. */
export const everybody = "sharing.public_prompts";

/** The form that every change of a stored prompt has. */
export function createChanges(parts: PromptParts) {
  const { transaction, prompts, grants, accounts } = parts;

  /** One change of a prompt that the caller may write: locked, recorded, announced and shown. */
  async function change(
    caller: Principal,
    id: string,
    {
      events,
      run,
    }: {
      events: (before: PromptRow, after: PromptRow) => PromptEvent;
      run: (tx: PromptDatabase, before: PromptRow) => Promise<PromptRow>;
    },
  ) {
    await prompts.load(caller, id, "write");
    const { after, event } = await transaction(async (tx) => {
      const before = await lockPrompt(tx, id);
      const stored = await run(tx, before);
      const what = events(before, stored);
      await parts.record(toEntry(what, { before, after: stored }), tx);
      return { after: stored, event: what };
    });
    announce(parts, event, { by: caller, row: after });
    return await showPrompt(parts, caller, after);
  }

  async function share(caller: Principal, id: string, wanted: readonly GrantInput[]) {
    const row = await prompts.load(caller, id, "write");
    const held = await grants.list(resourceType, [id]);
    const given = await accounts.givenGrants(caller, { wanted, held, everybody });
    await transaction(async (tx) => {
      const before = await lockPrompt(tx, id);
      await grants.replace(tx, resourceType, id, given);
      await parts.record(toEntry("access_updated", { before, after: before, grants: given }), tx);
    });
    announce(parts, "access_updated", { by: caller, row });
    return await showPrompt(parts, caller, row);
  }

  return { change, share };
}

export type Changes = ReturnType<typeof createChanges>;
