import { isDeepStrictEqual } from "node:util";
import { hasPermission } from "#kernel/access/permissions.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { announce, type PromptParts } from "../parts.ts";
import type { MetaForm, PromptForm, PromptUpdate } from "../schema.ts";
import { type PromptRow, resourceType, type Snapshot } from "../tables.ts";
import { type Changes, createChanges, everybody } from "./changes.ts";
import { addVersion, findVersion } from "./history-store.ts";
import { insertPrompt, toSnapshot, updatePrompt } from "./prompt-store.ts";
import { showPrompt, toEntry } from "./record.ts";

export type Library = ReturnType<typeof createLibrary>;

/** The logic behind `/prompts` (contract 8). */
export function createLibrary(parts: PromptParts) {
  const changes = createChanges(parts);
  return {
    get: async (caller: Principal, id: string) =>
      await showPrompt(parts, caller, await parts.prompts.load(caller, id, "read")),
    share: changes.share,
    ...creation(parts),
    ...updates(changes),
  };
}

/** Making, changing and removing prompts. */
function creation(parts: PromptParts) {
  const { transaction, prompts, grants, accounts } = parts;
  return {
    async create(caller: Principal, form: PromptForm) {
      requireAuthor(caller);
      const given = await accounts.givenGrants(caller, {
        wanted: form.access_grants ?? [],
        held: [],
        everybody,
      });
      const { name, command, content, is_production: isLive } = form;
      const snapshot: Snapshot = {
        name,
        command,
        content,
        data: form.data ?? {},
        meta: form.meta ?? {},
        tags: form.tags ?? [],
      };
      const row = await transaction(async (tx) => {
        // A prompt of drafts alone is not offered to anybody yet.
        const made = await insertPrompt(tx, { userId: caller.userId, snapshot, isActive: isLive });
        const version = { promptId: made.id, parentId: null, snapshot, author: caller.userId };
        const versionId = await addVersion(tx, { ...version, message: form.commit_message || null });
        const after = isLive ? await updatePrompt(tx, made.id, { versionId }) : made;
        await grants.replace(tx, resourceType, made.id, given);
        await parts.record(toEntry("created", { after, grants: given }), tx);
        return after;
      });
      announce(parts, "created", { by: caller, row });
      return await showPrompt(parts, caller, row);
    },

    async remove(caller: Principal, id: string): Promise<true> {
      const row = await prompts.load(caller, id, "write");
      await transaction(async (tx) => {
        await tx.deleteFrom("prompt").where("id", "=", id).execute();
        await grants.forget(tx, resourceType, [id]);
        await parts.record(toEntry("deleted", { before: row }), tx);
      });
      announce(parts, "deleted", { by: caller, row });
      return true;
    },
  };
}

/** What becomes of stored prompts. */
function updates({ change, share }: Changes) {
  return {
    /** Stores a version; one that is not for production changes nothing that is in use. */
    async update(caller: Principal, id: string, form: PromptUpdate) {
      const shown = await change(caller, id, {
        events: () => "updated",
        async run(tx, before) {
          requireOpened(form, before);
          const snapshot = toChanged(before, form);
          if (isDeepStrictEqual(snapshot, toSnapshot(before)) && form.is_production) {
            return before;
          }
          const versionId = await addVersion(tx, {
            promptId: id,
            parentId: before.version_id,
            snapshot,
            author: caller.userId,
            message: form.commit_message || null,
          });
          return form.is_production ? await updatePrompt(tx, id, { snapshot, versionId }) : before;
        },
      });
      return form.access_grants ? await share(caller, id, form.access_grants) : shown;
    },

    /** Name, command and tags, without a version. */
    updateMeta: (caller: Principal, id: string, { name, command, tags }: MetaForm) =>
      change(caller, id, {
        events: () => "updated",
        run: async (tx, before) =>
          await updatePrompt(tx, id, {
            snapshot: { ...toSnapshot(before), name, command, tags: tags ?? before.tags },
          }),
      }),

    /** Puts a version into use. The command stays: another prompt may have taken the earlier one. */
    useVersion: (caller: Principal, id: string, versionId: string) =>
      change(caller, id, {
        events: () => "version_updated",
        async run(tx, before) {
          const { snapshot } = await findVersion(tx, id, versionId);
          const isFirst = before.version_id === null;
          return await updatePrompt(tx, id, {
            snapshot: { ...snapshot, command: before.command },
            versionId,
            ...(isFirst && { isActive: true }),
          });
        },
      }),

    toggle: (caller: Principal, id: string) =>
      change(caller, id, {
        events: (_before, after) => (after.is_active ? "enabled" : "disabled"),
        run: async (tx, before) => await updatePrompt(tx, id, { isActive: !before.is_active }),
      }),
  };
}

/** Throws `forbidden` for those who may neither write nor import prompts. */
function requireAuthor(caller: Principal): void {
  if (!hasPermission(caller, "workspace.prompts") && !hasPermission(caller, "workspace.prompts_import")) {
    throw new AppError("forbidden", "You lack the permission workspace.prompts.");
  }
}

function requireOpened({ version_id: opened }: PromptUpdate, before: PromptRow): void {
  if (opened && opened !== before.version_id) {
    throw new AppError(
      "conflict",
      "Another version came into use since you opened this prompt. Compare them before you save yours.",
    );
  }
}

function toChanged(before: PromptRow, form: PromptUpdate): Snapshot {
  const stored = toSnapshot(before);
  return {
    name: form.name ?? stored.name,
    command: form.command ?? stored.command,
    content: form.content ?? stored.content,
    data: form.data ?? stored.data,
    meta: form.meta ?? stored.meta,
    tags: form.tags ?? stored.tags,
  };
}
