import { sql } from "kysely";
import { seconds } from "#storage/clock.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { type ChatRow, isRunning } from "./chat-store.ts";
import { joinParent } from "./reading/ancestor-join.ts";
import type { ChatParts } from "./parts.ts";
import type { ChatContext, ContextStep } from "./service.ts";
import { toStorableJson } from "./storable.ts";
import { appendedSize } from "./replies/append-log.ts";
import type { ChatDatabase } from "./tables.ts";

/** How much of a model's context a chat takes. */
export function createContext(db: ChatDatabase): ChatContext {
  return {
    isRunning: (chatId) => isRunning(db, chatId),

    async contextSteps(chatId, leafId) {
      // It stops where the size is known: at the last reply with usage, or at a summary. Most of the time that is the leaf.
      const columns = sql`m.id, m.parent_id, m.role, m.usage, m.context_summary, m.extra -> 'contextTokens' as tokens,
        greatest(char_length(chat_message_text(m.content)),
          coalesce(char_length(m.output::text), 0) + ${appendedSize})::int as chars`;
      const { rows } = await sql<ContextStep>`
        with recursive path as (
          select 1 as depth, ${columns} from chat_message as m where m.chat_id = ${chatId} and m.id = ${leafId}
          union all
          select path.depth + 1, m.* from path ${joinParent(chatId, columns)}
          where path.tokens is null and path.context_summary is null
            and not (path.role = 'assistant' and coalesce(coalesce(path.usage ->> 'prompt_tokens',
              path.usage ->> 'input_tokens', path.usage ->> 'prompt_eval_count') ~ '^[1-9]', false)))
        select role, usage, tokens as "contextTokens", char_length(context_summary) as "summaryChars", chars
        from path order by depth`.execute(db);
      return rows;
    },

    async keepSummary(chatId, { messageId, summary, leafId, tokens }) {
      const now = seconds();
      const { rows } = await sql<{ id: string }>`
        with covered as (
          update chat_message set context_summary = cast(${toStorableJson(summary)} as jsonb) #>> '{}', updated_at = ${now}
          where chat_id = ${chatId} and id = ${messageId} and ${messageId} <> ${leafId} returning id),
        leaf as (
          update chat_message set extra = extra || jsonb_build_object('contextTokens', ${tokens}::int), updated_at = ${now}
          where chat_id = ${chatId} and id = ${leafId} and exists (select 1 from covered) returning id)
        select id from covered`.execute(db);
      return rows.length > 0;
    },
  };
}

/** How full a chat's context is, for its owner and for administrators; null while compaction is switched off. */
export async function readUsage(
  { contextMeter }: Pick<ChatParts, "contextMeter">,
  caller: Principal,
  row: ChatRow,
): Promise<{ context_usage: { tokens: number; threshold: number } | null }> {
  const [filled] = contextMeter.list();
  const isShown = row.user_id === caller.userId || caller.role === "admin";
  const usage = filled && isShown ? await filled.usage(caller, row) : null;
  return { context_usage: usage };
}
