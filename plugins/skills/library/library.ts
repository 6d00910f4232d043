import { hasPermission } from "#kernel/access/permissions.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { announce, type SkillParts } from "../parts.ts";
import type { SkillForm, SkillUpdate } from "../schema.ts";
import { resourceType } from "../tables.ts";
import { type Changes, createChanges, everybody } from "./changes.ts";
import { requireFiles } from "./paths.ts";
import { showSkill, toEntry } from "./record.ts";
import {
  insertSkill,
  listFiles,
  putFile,
  readFile,
  readFiles,
  type SkillFile,
  updateSkill,
} from "./skill-store.ts";

export type Library = ReturnType<typeof createLibrary>;

/** The logic behind `/skills` (contract 8). */
export function createLibrary(parts: SkillParts) {
  const { db, skills } = parts;
  const changes = createChanges(parts);
  return {
    get: async (caller: Principal, id: string) =>
      await showSkill(parts, caller, await skills.load(caller, id, "read")),
    share: changes.share,
    ...creation(parts),
    ...updates(changes),

    async readFile(caller: Principal, id: string, path: string) {
      await skills.load(caller, id, "read");
      return await readFile(db, id, path);
    },

    /** The skill with the bytes of its files. */
    async whole(caller: Principal, id: string) {
      const row = await skills.load(caller, id, "read");
      return { row, files: await readFiles(db, id) };
    },

    paths: async (id: string) => (await listFiles(db, [id])).map(({ path }) => path),
  };
}

/** Making, changing and removing skills. */
function creation(parts: SkillParts) {
  const { transaction, skills, grants, accounts } = parts;
  return {
    async create(caller: Principal, { id: wanted, access_grants: shared, ...form }: SkillForm) {
      requireAuthor(caller);
      const id = toSkillId(wanted);
      const files = form.files.map(({ path, content }) => ({
        path,
        content: Buffer.from(content, "base64"),
      }));
      requireFiles(files);
      const given = await accounts.givenGrants(caller, { wanted: shared ?? [], held: [], everybody });
      const { name, description, content, meta, is_active } = form;
      const fields = { name, description, content, meta, is_active };
      const row = await transaction(async (tx) => {
        const after = await insertSkill(tx, { ...fields, id, userId: caller.userId });
        if (after === undefined) {
          throw new AppError("conflict", `There is a skill with the id "${id}" already.`);
        }
        for (const file of files) {
          await putFile(tx, id, file);
        }
        await grants.replace(tx, resourceType, id, given);
        await parts.record(toEntry("created", { after, grants: given }), tx);
        return after;
      });
      announce(parts, "created", { by: caller, row });
      return await showSkill(parts, caller, row);
    },

    async remove(caller: Principal, id: string): Promise<true> {
      const row = await skills.load(caller, id, "write");
      await transaction(async (tx) => {
        await tx.deleteFrom("skill").where("id", "=", id).execute();
        await grants.forget(tx, resourceType, [id]);
        await parts.record(toEntry("deleted", { before: row }), tx);
      });
      announce(parts, "deleted", { by: caller, row });
      return true;
    },
  };
}

/** What becomes of stored skills. */
function updates({ change, share }: Changes) {
  return {
    async update(caller: Principal, id: string, form: SkillUpdate) {
      const { access_grants: shared, updated_at: opened, ...fields } = form;
      const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
      const shown = await change(caller, id, async (tx, before) => {
        if (opened !== undefined && opened !== before.updated_at) {
          throw new AppError("conflict", "This skill was changed since you opened it. Open it again first.");
        }
        return { after: await updateSkill(tx, id, given), event: "updated" };
      });
      return shared ? await share(caller, id, shared) : shown;
    },

    toggle: (caller: Principal, id: string) =>
      change(caller, id, async (tx, before) => {
        const after = await updateSkill(tx, id, { is_active: !before.is_active });
        return { after, event: after.is_active ? "enabled" : "disabled" };
      }),

    /** Adds a file or replaces the one at its path. */
    putFile: (caller: Principal, id: string, file: SkillFile) =>
      change(caller, id, async (tx, before) => {
        const others = (await readFiles(tx, before.id)).filter(({ path }) => path !== file.path);
        requireFiles([...others, file]);
        await putFile(tx, id, file);
        return { after: await updateSkill(tx, id, {}), event: "updated" };
      }),

    removeFile: (caller: Principal, id: string, path: string) =>
      change(caller, id, async (tx) => {
        await readFile(tx, id, path);
        await tx.deleteFrom("skill_file").where("skill_id", "=", id).where("path", "=", path).execute();
        return { after: await updateSkill(tx, id, {}), event: "updated" };
      }),
  };
}

/** Throws `forbidden` for those who may neither write nor import skills. */
function requireAuthor(caller: Principal): void {
  if (!hasPermission(caller, "workspace.skills") && !hasPermission(caller, "workspace.skills_import")) {
    throw new AppError("forbidden", "You lack the permission workspace.skills.");
  }
}

/** The slug of a skill (contract §0). Throws `invalid`. */
export function toSkillId(wanted: string): string {
  const id = wanted.trim().toLowerCase();
  if (!/^[a-z0-9][a-z0-9_-]{0,63}$/.test(id)) {
    throw new AppError("invalid", "id: takes up to 64 letters from a to z, digits, hyphens and underscores.");
  }
  return id;
}
