import { type SqlBool, sql } from "kysely";
import type { Role } from "#kernel/access/principal.ts";
import type { MfaDeps } from "./deps.ts";
import type { AccountQuery } from "./http/schema.ts";
import { isRequired } from "./policy.ts";

const pageSize = 50;

const hasFactor = sql<boolean>`(m.secret is not null or exists (select from mfa_passkey p where p.user_id = u.id))`;
const states = {
  all: sql<SqlBool>`true`,
  with: sql<SqlBool>`${hasFactor}`,
  without: sql<SqlBool>`not ${hasFactor}`,
  reset: sql<SqlBool>`m.reset_hash is not null`,
};

interface Row {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly totp: boolean;
  readonly passkeys: number;
  readonly codes: number;
  readonly reset: boolean;
  readonly groups: string[];
  readonly total: number;
}

/** One page of accounts by name, with what each signs in with. */
export async function listAccounts({ db, config }: Pick<MfaDeps, "db" | "config">, query: AccountQuery) {
  const pattern = `%${query.query.toLowerCase().replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
  const { rows } = await sql<Row>`
    select u.id, u.name, u.email, u.role, m.secret is not null as totp, m.reset_hash is not null as reset,
      (select count(*)::int from mfa_passkey p where p.user_id = u.id) as passkeys,
      (select count(*)::int from mfa_recovery_code c where c.user_id = u.id and c.used_at is null) as codes,
      array(select g.group_id from group_member g where g.user_id = u.id) as groups,
      (count(*) over ())::int as total
    from "user" u left join mfa_account m on m.user_id = u.id
    where (lower(u.name) like ${pattern} or u.email like ${pattern}) and ${states[query.state]} and not u.is_bot
    order by lower(u.name), u.id limit ${pageSize} offset ${(query.page - 1) * pageSize}`.execute(db);
  const isAsked = sql<boolean>`u.role <> 'pending' and (u.role = any(${[...config.roles]}::text[]) or exists (
    select from group_member g where g.user_id = u.id and g.group_id = any(${[...config.groups]}::text[])))`;
  const counts = await sql<{ with_factor: number; all: number; asked: number; without: number }>`
    select (count(*) filter (where ${hasFactor}))::int as with_factor, count(*)::int as "all",
      (count(*) filter (where ${isAsked}))::int as asked,
      (count(*) filter (where ${isAsked} and not ${hasFactor}))::int as without
    from "user" u left join mfa_account m on m.user_id = u.id where not u.is_bot`.execute(db);
  return {
    accounts: rows.map(({ id, name, email, role, totp, passkeys, codes, reset, groups }) => ({
      id,
      name,
      email,
      role,
      totp,
      passkeys,
      recovery_codes_left: codes,
      reset_pending: reset,
      required: isRequired(config, { role, groupIds: groups }),
    })),
    total: rows[0]?.total ?? 0,
    with_factor: counts.rows[0]?.with_factor ?? 0,
    all: counts.rows[0]?.all ?? 0,
    asked: counts.rows[0]?.asked ?? 0,
    asked_without_factor: counts.rows[0]?.without ?? 0,
  };
}
