import { randomUUID } from "node:crypto";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { createSigningSecret } from "#kernel/webhook-signature.ts";
import { seconds } from "#storage/clock.ts";
import { toJson } from "#storage/values.ts";
import { receiverOf, type RegistryParts, requireApp } from "../parts.ts";
import { type AppEdit, type AppSecrets, limits, type Manifest } from "../schema.ts";
import type { AppRow } from "../tables.ts";
import { createKey, secretPlace } from "./keys.ts";
import { checkWishes, requireUrl } from "./check-manifest.ts";
import { showApp } from "./show-app.ts";

export type Registry = ReturnType<typeof createRegistry>;

/** Apps in the hands of administrators. */
export function createRegistry(parts: RegistryParts) {
  const { db, transaction } = parts;
  return {
    async list(): Promise<AppSecrets[]> {
      const rows = await db.selectFrom("app").selectAll().orderBy("name").orderBy("id").execute();
      return await Promise.all(rows.map((row) => showApp(parts, row)));
    },
    get: async (id: string): Promise<AppSecrets> => await showApp(parts, await requireApp(db, id)),
    create: (caller: Principal, manifest: Manifest, manifestUrl: string | null) =>
      create(parts, caller, { manifest, manifestUrl }),
    update: (id: string, edit: AppEdit) => update(parts, id, edit),

    /** Its key, its secret and its memberships end; what it wrote stays, with its name. */
    async remove(id: string): Promise<true> {
      const row = await requireApp(db, id);
      await transaction(async (tx) => {
        await tx.deleteFrom("app").where("id", "=", id).execute();
        await parts.accounts.bots.remove(tx, row.user_id);
        await parts.record({ action: "app.deleted", object: toObject(row), before: toAudited(row) }, tx);
      });
      await parts.deliveries?.forget(receiverOf(id));
      await Promise.all([parts.accounts.bots.changed(row.user_id), parts.changed()]);
      return true;
    },
  };
}

async function create(
  parts: RegistryParts,
  caller: Principal,
  { manifest, manifestUrl }: { manifest: Manifest; manifestUrl: string | null },
): Promise<AppSecrets> {
  const url = manifest.url ? requireUrl("url", manifest.url) : null;
  const { name, description, scopes, events } = manifest;
  checkWishes({ url, scopes, events });
  const picture = manifest.avatar ? parts.accounts.pictures.require(manifest.avatar) : null;
  const id = randomUUID();
  const secret = createSigningSecret();
  const key = createKey();
  const now = seconds();
  const row = await parts.transaction(async (tx) => {
    const { count } = await tx
      .selectFrom("app")
      .select((eb) => eb.fn.countAll<number>().as("count"))
      .executeTakeFirstOrThrow();
    if (Number(count) >= limits.apps) {
      throw new AppError("invalid", `There are at most ${limits.apps} apps. Delete one first.`);
    }
    const userId = await parts.accounts.bots.create(tx, { name, picture });
    const made = await tx
      .insertInto("app")
      .values({
        id,
        user_id: userId,
        name,
        description,
        url,
        manifest_url: manifestUrl,
        scopes: toJson([...new Set(scopes)]),
        events: toJson([...new Set(events)]),
        enabled: true,
        disabled_reason: null,
        failures: 0,
        sealed_secret: parts.seal.seal(secret, secretPlace(id)),
        ...key.columns,
        created_by: caller.userId,
        created_at: now,
        updated_at: now,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    await parts.record({ action: "app.created", object: toObject(made), after: toAudited(made) }, tx);
    return made;
  });
  await parts.changed();
  return await showApp(parts, row, { api_key: key.value, signing_secret: secret });
}

/** Changes the fields that are given. Switching it on again forgets why it was off. */
async function update(parts: RegistryParts, id: string, edit: AppEdit): Promise<AppSecrets> {
  const before = await requireApp(parts.db, id);
  const url = edit.url === undefined ? before.url : edit.url && requireUrl("url", edit.url);
  const { name = before.name, scopes = before.scopes, events = before.events } = edit;
  checkWishes({ url: url || null, scopes, events });
  const picture =
    edit.avatar === undefined ? undefined : edit.avatar && parts.accounts.pictures.require(edit.avatar);
  const enabled = edit.enabled ?? before.enabled;
  const row = await parts.transaction(async (tx) => {
    const changed = await tx
      .updateTable("app")
      .set({
        name,
        description: edit.description ?? before.description,
        url: url || null,
        scopes: toJson([...new Set(scopes)]),
        events: toJson([...new Set(events)]),
        enabled,
        ...(edit.enabled !== undefined && { disabled_reason: null, failures: 0 }),
        updated_at: seconds(),
      })
      .where("id", "=", id)
      .returningAll()
      .executeTakeFirst();
    if (changed === undefined) {
      throw new AppError("not_found", "App not found");
    }
    await parts.accounts.bots.update(tx, changed.user_id, {
      name,
      ...(picture !== undefined && { picture: picture || null }),
    });
    await parts.record(
      {
        action: "app.updated",
        object: toObject(changed),
        before: toAudited(before),
        after: { ...toAudited(changed), ...(picture !== undefined && { picture: "changed" }) },
      },
      tx,
    );
    return changed;
  });
  await Promise.all([parts.accounts.bots.changed(row.user_id), parts.changed()]);
  return await showApp(parts, row);
}

export const toObject = ({ id, name }: Pick<AppRow, "id" | "name">) => ({ type: "app", id, name });

function toAudited({ name, description, url, scopes, events, enabled }: AppRow) {
  return { name, description, url, scopes, events, enabled };
}
