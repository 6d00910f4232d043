import { sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Folders, and what ties chats to them. */
export const createFolders: Migration = {
  async up(db) {
    await sql`create table folder (
      id text not null unique,
      user_id text not null references "user" (id) on delete cascade,
      parent_id text,
      name text not null,
      items jsonb,
      data jsonb not null default '{}',
      meta jsonb not null default '{}',
      is_expanded boolean not null default false,
      created_at bigint not null,
      updated_at bigint not null,
      primary key (id, user_id),
      -- A folder lies in one of the same owner, or in none; its owner is gone only together with it.
      constraint folder_parent foreign key (parent_id, user_id) references folder (id, user_id) on delete cascade,
      check (parent_id <> id)
    )`.execute(db);
    await sql`create unique index folder_name on folder (user_id, coalesce(parent_id, ''), lower(name))`.execute(
      db,
    );
    await sql`create index folder_children on folder (parent_id, user_id)`.execute(db);
    // A chat that is written while its folder is deleted ends up in none: never in one that does not exist.
    await sql`update chat set folder_id = null where folder_id is not null`.execute(db);
    await sql`alter table chat add constraint chat_in_folder
      foreign key (folder_id) references folder (id) on delete set null`.execute(db);
    await sql`create index chat_folder_unread on chat (folder_id) where folder_id is not null and not archived
      and not is_internal and (last_read_at is null or last_read_at < updated_at)`.execute(db);
  },
};
