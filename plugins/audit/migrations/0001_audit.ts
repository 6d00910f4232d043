import { sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Records of administrators' actions. Names are copied and refer to nothing: a record outlives account and object. */
export const createAuditRecord: Migration = {
  async up(db) {
    await sql`create table audit_record (
      id bigint generated always as identity primary key,
      created_at bigint not null,
      actor_id text,
      actor_name text,
      actor_role text,
      action text not null,
      object_type text not null,
      object_id text not null,
      object_name text,
      before jsonb,
      after jsonb,
      complete boolean not null,
      address text,
      client text,
      request_id text
    )`.execute(db);
    await sql`create index audit_record_object on audit_record (object_type, object_id, id)`.execute(db);
    await sql`create index audit_record_actor on audit_record (actor_id, id)`.execute(db);
    await sql`create index audit_record_action on audit_record (action, id)`.execute(db);
    await sql`create index audit_record_created on audit_record (created_at, id)`.execute(db);
    await sql`create function audit_record_append_only() returns trigger language plpgsql as $$ begin
      raise exception 'audit_record is append-only';
    end $$`.execute(db);
    await sql`create trigger audit_record_append_only before update or delete or truncate on audit_record
      for each statement execute function audit_record_append_only()`.execute(db);
  },
};
