import { type RawBuilder, sql, type SqlBool } from "kysely";
import { urns } from "../discovery/urns.ts";

/** One value of a resource in SQL. */
export interface ValueColumn {
  readonly kind: "text" | "boolean" | "time";
  /** Text, boolean, or epoch seconds; null where the resource has none. */
  readonly sql: RawBuilder<unknown>;
  /** Whether case counts in comparisons. */
  readonly exact?: boolean;
  /** The text is stored in lower case, so that its index serves comparisons. */
  readonly lower?: boolean;
}

/** An attribute of which a resource has many values, each a row of a query. */
export interface ManyColumn {
  readonly kind: "many";
  /** What follows `select … from`, up to and with its `where`. */
  readonly from: RawBuilder<unknown>;
  readonly parts: Readonly<Record<string, ValueColumn>>;
  /** Finds by an index the resources that may have an element with this value; each is looked at again. */
  readonly candidates?: (value: string) => RawBuilder<SqlBool>;
}

/** An attribute that is made of parts. */
export interface PartsColumn {
  readonly kind: "parts";
  readonly parts: Readonly<Record<string, ValueColumn>>;
}

/** A known attribute that is not stored: no resource has it. */
export interface AbsentColumn {
  readonly kind: "absent";
}

export type Column = ValueColumn | ManyColumn | PartsColumn | AbsentColumn;

/** Columns by attribute in lower case. */
export type Columns = Readonly<Record<string, Column>>;

const text = (value: RawBuilder<unknown>, more: Partial<ValueColumn> = {}): ValueColumn => ({
  kind: "text",
  sql: value,
  ...more,
});

const exact = { exact: true } as const;

// A person whom no identity provider has named has a name in one piece: its first word counts as the given name.
const isNamed = sql`("user".scim -> 'name') is not null`;
const space = sql`strpos("user".name, ' ')`;
const nameParts = {
  formatted: text(sql`case when ${isNamed} then "user".scim #>> '{name,formatted}' else "user".name end`),
  givenname: text(sql`case when ${isNamed} then "user".scim #>> '{name,givenName}'
    else split_part("user".name, ' ', 1) end`),
  familyname: text(sql`case when ${isNamed} then "user".scim #>> '{name,familyName}'
    when ${space} > 0 then substr("user".name, ${space} + 1) end`),
};

/** The addresses of a user; without stored ones the login address stands for them. */
const emails = sql`jsonb_array_elements(coalesce("user".scim -> 'emails',
  jsonb_build_array(jsonb_build_object('value', "user".email, 'type', 'work', 'primary', true)))) as each (item)
  where true`;

/** The index `user_scim_emails` is over this very expression. */
const foldedEmails = sql`(lower(("user".scim -> 'emails')::text)::jsonb)`;
const emailCandidates = (value: string) => sql<SqlBool>`("user".email = lower(${value}::text)
  or ${foldedEmails} @> jsonb_build_array(jsonb_build_object('value', lower(${value}::text))))`;

/** Columns of users, over the table `user`. */
export const userColumns: Columns = {
  id: text(sql`"user".id`, exact),
  externalid: text(sql`("user".scim ->> 'external_id')`, exact),
  username: text(sql`"user".email`, { lower: true }),
  displayname: text(sql`case when "user".scim ->> 'display' = 'none' then null else "user".name end`),
  active: { kind: "boolean", sql: sql`("user".role <> 'pending')` },
  name: { kind: "parts", parts: nameParts },
  emails: {
    kind: "many",
    from: emails,
    parts: {
      value: text(sql`each.item ->> 'value'`),
      // Contract D.27: an address without a type counts as work.
      type: text(sql`coalesce(each.item ->> 'type', 'work')`),
      display: text(sql`each.item ->> 'display'`),
      primary: { kind: "boolean", sql: sql`(each.item ->> 'primary')::boolean` },
    },
    candidates: emailCandidates,
  },
  groups: {
    kind: "many",
    from: sql`group_member as held inner join "group" as each on each.id = held.group_id
      where held.user_id = "user".id`,
    parts: {
      value: text(sql`each.id`, exact),
      display: text(sql`each.name`),
      type: text(sql`'direct'`),
    },
  },
  meta: toMeta("User", "user"),
  schemas: {
    kind: "many",
    from: sql`(values (1)) as each (one) where true`,
    parts: { value: text(sql`${urns.user}::text`, exact) },
  },
};

/** Columns of groups, over the table `group`. */
export const groupColumns: Columns = {
  id: text(sql`"group".id`, exact),
  externalid: text(sql`("group".meta #>> '{scim,external_id}')`, exact),
  displayname: text(sql`"group".name`),
  members: {
    kind: "many",
    from: sql`group_member as held inner join "user" as each on each.id = held.user_id
      where held.group_id = "group".id`,
    parts: {
      value: text(sql`each.id`, exact),
      display: text(sql`case when each.scim ->> 'display' = 'none' then null else each.name end`),
      type: text(sql`'User'`),
    },
  },
  meta: toMeta("Group", "group"),
  schemas: {
    kind: "many",
    from: sql`(values (1)) as each (one) where true`,
    parts: { value: text(sql`${urns.group}::text`, exact) },
  },
};

function toMeta(kind: string, table: "user" | "group"): PartsColumn {
  return {
    kind: "parts",
    parts: {
      resourcetype: text(sql`${kind}::text`, exact),
      created: { kind: "time", sql: sql`${sql.ref(`${table}.created_at`)}` },
      lastmodified: { kind: "time", sql: sql`${sql.ref(`${table}.updated_at`)}` },
    },
  };
}
