import { createHash, randomBytes, randomUUID } from "node:crypto";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { seconds } from "#storage/clock.ts";
import type { Accounts } from "#plugins/accounts/service.ts";
import type { GatewayDatabase } from "../tables.ts";

/** A key as its owner may see it later on. */
export interface KeyView {
  readonly id: string;
  readonly name: string;
  readonly key: string;
  readonly created_at: number;
  readonly last_used_at: number | null;
}

/** Keys of the gateway: `sk-gw-` and 64 hex digits, stored hashed (contract §12). */
export interface Keys {
  list(owner: Principal): Promise<KeyView[]>;
  /** The answer is the only place where the whole key appears. */
  create(owner: Principal, name: string): Promise<KeyView>;
  /** Throws `not_found` for keys of others. */
  remove(owner: Principal, id: string): Promise<KeyView>;
  /** The owner of the key in an Authorization header; throws `unauthenticated`. */
  authenticate(header: string | undefined): Promise<Principal>;
}

const keyForm = /^Bearer +(sk-gw-[0-9a-f]{64}) *$/i;
/** A key in use is noted at most this often. */
const noteEverySeconds = 60;

export function createKeys(db: GatewayDatabase, accounts: Pick<Accounts, "principalOf">): Keys {
  return {
    async list({ userId }) {
      const rows = await db
        .selectFrom("gateway_key")
        .selectAll()
        .where("user_id", "=", userId)
        .orderBy("created_at")
        .orderBy("id")
        .execute();
      return rows.map((row) => toView(row));
    },
    async create({ userId }, name) {
      const key = `sk-gw-${randomBytes(32).toString("hex")}`;
      const row = {
        id: randomUUID(),
        user_id: userId,
        name,
        key_hash: toHash(key),
        hint: key.slice(-4),
        created_at: seconds(),
        last_used_at: null,
      };
      await db.insertInto("gateway_key").values(row).execute();
      return { ...toView(row), key };
    },
    async remove({ userId }, id) {
      const gone = await db
        .deleteFrom("gateway_key")
        .where("id", "=", id)
        .where("user_id", "=", userId)
        .returningAll()
        .executeTakeFirst();
      if (gone === undefined) {
        throw new AppError("not_found", "Not found");
      }
      return toView(gone);
    },
    async authenticate(header) {
      const [, key] = keyForm.exec(header ?? "") ?? [];
      const row =
        key === undefined
          ? undefined
          : await db
              .selectFrom("gateway_key")
              .select(["id", "user_id", "last_used_at"])
              .where("key_hash", "=", toHash(key))
              .executeTakeFirst();
      const owner = row && (await accounts.principalOf(row.user_id));
      // A key works like a shell on the server: it ends with its owner's office.
      if (row === undefined || owner?.role !== "admin") {
        throw new AppError("unauthenticated", "The gateway key is missing, wrong or revoked.", {
          headers: { "www-authenticate": "Bearer" },
        });
      }
      const now = seconds();
      if (now - (row.last_used_at ?? 0) >= noteEverySeconds) {
        await db.updateTable("gateway_key").set({ last_used_at: now }).where("id", "=", row.id).execute();
      }
      return owner;
    },
  };
}

type Row = Omit<KeyView, "key"> & { readonly hint: string };

function toView({ id, name, hint, created_at, last_used_at }: Row): KeyView {
  return { id, name, key: `sk-gw-…${hint}`, created_at, last_used_at };
}

// 256 random bits need no slow digest, and a plain one can be looked up.
function toHash(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}
