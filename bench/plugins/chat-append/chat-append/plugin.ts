import { randomUUID } from "node:crypto";
import { type Kysely, sql } from "kysely";
import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import { definePlugin, tables } from "#kernel/plugin.ts";
import { chats } from "#plugins/chats/service.ts";

interface BlobTables {
  bench_blob: { id: number; chat: string };
}

/** Times of a new message inside the process: as rows of a chat, and as a chat rewritten whole. */
export default definePlugin({
  id: "chat-append",
  title: "Bench: appending to chats",
  uses: { chats },
  tables: tables<BlobTables>("bench_blob"),
  migrations: {
    "0001_blob": {
      async up(db: Kysely<never>) {
        await sql`create table bench_blob (id integer primary key, chat jsonb not null)`.execute(db);
      },
    },
  },
  setup({ use, db }) {
    const append = defineRoute(
      {
        method: "POST",
        path: "/bench/append",
        summary: "Milliseconds that each new message took",
        access: "admin",
        body: z.object({ chat_id: z.string(), parent_id: z.string(), times: z.number() }),
      },
      async ({ body: { chat_id, parent_id, times } }) => {
        let parentId = parent_id;
        return await timed(times, async () => {
          const id = randomUUID();
          await use.chats.append(chat_id, [{ id, role: "user", content: text(2), parentId }]);
          parentId = id;
        });
      },
    );
    const rewrite = defineRoute(
      {
        method: "POST",
        path: "/bench/rewrite",
        summary: "Milliseconds that each rewriting of a blob took",
        access: "admin",
        body: z.object({ kilobytes: z.number(), times: z.number() }),
      },
      async ({ body: { kilobytes, times } }) => {
        const messages = Array.from({ length: kilobytes / 2 }, () => ({
          id: randomUUID(),
          content: text(2),
        }));
        const written = JSON.stringify({ messages });
        await sql`insert into bench_blob (id, chat) values (1, cast(${written} as jsonb))
          on conflict (id) do update set chat = excluded.chat`.execute(db);
        return await timed(times, async () => {
          const { rows } = await sql<{ chat: { messages: unknown[] } }>`select chat from bench_blob`.execute(
            db,
          );
          const chat = rows[0]!.chat;
          chat.messages[chat.messages.length - 1] = { id: randomUUID(), content: text(2) };
          await sql`update bench_blob set chat = cast(${JSON.stringify(chat)} as jsonb)`.execute(db);
        });
      },
    );
    return { routes: { api: [append, rewrite] } };
  },
});

async function timed(times: number, run: () => Promise<void>): Promise<{ milliseconds: number[] }> {
  const milliseconds: number[] = [];
  for (let n = 0; n < times; n++) {
    const started = performance.now();
    await run();
    milliseconds.push(performance.now() - started);
  }
  return { milliseconds };
}

const vocabulary = Array.from({ length: 3000 }, () => randomUUID().slice(0, 6));

/** Words of about this many kilobytes, as often repeated as those of a language, and different each time. */
function text(kilobytes: number): string {
  const word = () => vocabulary[Math.floor(Math.random() ** 3 * vocabulary.length)];
  return Array.from({ length: kilobytes * 146 }, word).join(" ");
}
