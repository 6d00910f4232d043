import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/**
 * A search vector holds at most 1 MB, and a text that needs more cannot be stored at all. A sign of four bytes takes at
 * most eight there: in its word, and in the compound that hyphens make of words. Plain ASCII takes at most half of that.
 */
export const boundWords: Migration = {
  async up(db) {
    await sql`create or replace function chat_words(words text) returns text
      language sql immutable parallel safe as $$
        select case when octet_length(words) = char_length(words) then left(words, 150000)
          else regexp_replace(left(words, 125000), '([\\u3040-\\u30ff\\u3400-\\u9fff\\uac00-\\ud7af])', ' \\1 ', 'g') end
      $$`.execute(db as Kysely<unknown>);
  },
};
