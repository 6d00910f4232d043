import { hasPermission } from "#kernel/access/permissions.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { GrantInput } from "#storage/grants.ts";
import { resourceType, type ToolParts } from "../parts.ts";
import type { ToolUpdate } from "../schema.ts";
import { toApproval } from "./approval.ts";
import { toActor, toEntry, toMeta } from "./record.ts";
import { type CodeFields, lockTool, type ToolRow, updateTool } from "./tool-store.ts";
import { showTool } from "./views.ts";

/** What changes of tools have in common. */
export type Saving = ReturnType<typeof createSaving>;

export function createSaving(parts: ToolParts) {
  const { transaction, grants, accounts } = parts;
  const announce = (
    event: "created" | "updated" | "deleted" | "access_updated",
    caller: Principal,
    { id, name }: Pick<ToolRow, "id" | "name">,
  ): void => {
    parts.events.announce(`tool.${event}`, {
      actor: toActor(caller),
      subject: { type: "tool", id },
      data: { id, name },
    });
  };

  async function toFields(caller: Principal, form: ToolUpdate, place: Owner): Promise<CodeFields> {
    const { stored } = place;
    const facts = await parts.loadFacts({ id: place.id, user_id: place.userId, content: form.content });
    const meta = toMeta(form.meta, facts, stored?.meta);
    const { name, content } = form;
    return { name, content, specs: facts.specs, meta, error: null, ...toApproval(caller, meta, stored) };
  }

  /** Stores code that was loaded. Code that does not load is refused and changes nothing (contract D.39). */
  async function store(caller: Principal, row: ToolRow, form: ToolUpdate): Promise<ToolRow> {
    if (form.content !== row.content && !hasPermission(caller, "workspace.tools")) {
      // Promise S57: who may write a tool may name and share it, and not run other code as its users.
      throw new AppError("forbidden", "Changing code needs the permission for workspace tools.");
    }
    const fields = await toFields(caller, form, { id: row.id, userId: row.user_id, stored: row });
    const after = await transaction(async (tx) => {
      const before = await lockTool(tx, row.id);
      requireVersion(form, before);
      const isSame = before.content === form.content;
      const kept =
        isSame && caller.role !== "admin" ? { approved: before.approved, pending: before.pending } : {};
      const stored = await updateTool(tx, before, { fields: { ...fields, ...kept }, author: caller.userId });
      await parts.record(toEntry("updated", { before, after: stored }), tx);
      return stored;
    });
    parts.forget(row.id);
    announce("updated", caller, after);
    return after;
  }

  async function share(caller: Principal, row: ToolRow, wanted: readonly GrantInput[]) {
    const held = await grants.list(resourceType, [row.id]);
    const given = await accounts.givenGrants(caller, { wanted, held, everybody: "sharing.public_tools" });
    await transaction(async (tx) => {
      const before = await lockTool(tx, row.id);
      await grants.replace(tx, resourceType, row.id, given);
      await parts.record(toEntry("access_updated", { before, after: before, grants: given }), tx);
    });
    announce("access_updated", caller, row);
    return await showTool(parts, caller, row);
  }

  return { announce, toFields, store, share };
}

interface Owner {
  readonly id: string;
  readonly userId: string;
  readonly stored: ToolRow | undefined;
}

function requireVersion({ version_id: opened }: ToolUpdate, before: ToolRow): void {
  if (opened !== undefined && opened !== String(before.version)) {
    throw new AppError(
      "conflict",
      `Version ${before.version} was saved since you opened version ${opened}. Compare them before you save yours.`,
    );
  }
}
