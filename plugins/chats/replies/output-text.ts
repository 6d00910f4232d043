import { type RawBuilder, sql } from "kysely";

interface Rewrite {
  readonly output: RawBuilder<unknown>;
  /** What the message says from now on. */
  readonly content: RawBuilder<unknown>;
}

/**
 * In SQL: the stored output of a reply whose content somebody changed. Clients show its items and models read them, so
 * the last item of text says what the content says, the other texts go, and thoughts, calls and results stay. Null for a
 * message that has no output.
 */
export function withText({ output, content }: Rewrite): RawBuilder<unknown> {
  const text = sql`case jsonb_typeof(${content}) when 'string' then ${content} #>> '{}'
    when 'array' then coalesce((select string_agg(part ->> 'text', E'\n') from jsonb_array_elements(${content}) as part), '')
    else '' end`;
  const said = sql`jsonb_build_array(jsonb_build_object('type', 'output_text', 'text', ${text}))`;
  const fresh = sql`jsonb_build_object('type', 'message', 'id', 'msg_' || gen_random_uuid(), 'status', 'completed',
    'role', 'assistant', 'content', ${said})`;
  return sql`case when jsonb_typeof(${output}) = 'array' and ${output} <> '[]'::jsonb then (
    select coalesce(jsonb_agg(case when at = last then item || jsonb_build_object('content', ${said}) else item end
        order by at) filter (where at = last or item ->> 'type' is distinct from 'message'), '[]'::jsonb)
      || case when max(last) is null then jsonb_build_array(${fresh}) else '[]'::jsonb end
    from (select item, at, max(at) filter (where item ->> 'type' = 'message') over () as last
      from jsonb_array_elements(${output}) with ordinality as items (item, at)) as items) else ${output} end`;
}
