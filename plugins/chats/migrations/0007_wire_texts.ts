import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/**
 * Messages keep the JSON text that the wire shows of them beside their values: reading a chat is mostly passing texts on
 * (performance.md, P19). The database makes the text whenever a value changes, so it can never differ from them.
 */
export const createWireTexts: Migration = {
  async up(db) {
    const all = db as Kysely<unknown>;
    await createFunction(all);
    await sql`alter table chat_message add column wire text generated always as (
      -- A reply that grows is not composed once a second; its text is made when it is read.
      case when run_id is null then chat_message_wire(role, content, output, model_id, files, sources, embeds, meta,
        done, status_history, error, usage, context_summary, extra) end) stored`.execute(all);
    await sql`do $do$ begin
      execute 'alter table chat_message alter column wire set compression lz4';
    exception when feature_not_supported or syntax_error then
      execute 'alter table chat_message alter column wire set storage external';
    end $do$`.execute(all);
  },
};

/**
 * The members of a message's JSON object, each with a comma before it. The content comes last, behind the only line
 * break: who needs it apart finds it there. Keys of `extra` that a column has a value for are left out.
 */
async function createFunction(db: Kysely<unknown>): Promise<void> {
  // The members of an object's text, with a comma before them.
  await sql`create function json_members(object jsonb) returns text
    language sql immutable parallel safe as $$
      select coalesce(', ' || nullif(right(left(object::text, -1), -1), ''), '') $$`.execute(db);
  await sql`create function chat_message_wire(role text, content jsonb, output jsonb, model_id text, files jsonb,
      sources jsonb, embeds jsonb, meta jsonb, done boolean, status_history jsonb, error jsonb, usage jsonb,
      context_summary text, extra jsonb) returns text
    language sql immutable parallel safe as $$
      select json_members(extra - array_remove(array['role', case when content is not null then 'content' end,
          case when output is not null then 'output' end, case when model_id is not null then 'model' end,
          case when files is not null then 'files' end, case when sources is not null then 'sources' end,
          case when embeds is not null then 'embeds' end, case when meta is not null then 'meta' end,
          case when done is not null then 'done' end,
          case when status_history is not null then 'statusHistory' end,
          case when error is not null then 'error' end, case when usage is not null then 'usage' end,
          case when context_summary is not null then 'contextSummary' end], null))
        || json_members(jsonb_strip_nulls(jsonb_object(
          array['role', role, 'model', model_id, 'contextSummary', context_summary])))
        || coalesce(', "done": ' || case done when true then 'true' when false then 'false' end, '')
        || coalesce(', "output": ' || output::text, '') || coalesce(', "files": ' || files::text, '')
        || coalesce(', "sources": ' || sources::text, '') || coalesce(', "embeds": ' || embeds::text, '')
        || coalesce(', "meta": ' || meta::text, '')
        || coalesce(', "statusHistory": ' || status_history::text, '')
        || coalesce(', "error": ' || error::text, '') || coalesce(', "usage": ' || usage::text, '')
        || coalesce(E', "content":\\n' || content::text, '') $$`.execute(db);
}
