import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toReply, toUserMessage, toChat } from "#test/support/chat-driver.ts";
import { type ChatServers, databaseKinds, startChatServers } from "#test/support/chat-servers.ts";
import { isFull, report, times } from "#test/support/faults.ts";
import { faultsOf } from "#test/support/message-tree.ts";
import { makePieces, paced } from "#test/support/upstream-paced.ts";

/** A message as the server acknowledged it, and what it may say if the last write landed without an answer. */
interface Written {
  readonly chatId: string;
  readonly id: string;
  content: string | undefined;
  maybe: string | undefined;
}

const kills = times(2, 200);
const longest = isFull ? 5_000 : 1_500;

/** Promise R1: an acknowledged message is never lost. */
describe.each(databaseKinds)("kill -9 under chat writes on %s", (_name, database) => {
  describe("(promise R1)", () => {
    let all: ChatServers;
    const titles: string[] = [];
    const ledger = new Map<string, Written>();

    beforeAll(async () => {
      all = await startChatServers({ database });
      all.upstream.always("/chat/completions", paced(makePieces(20), { every: 20 }));
    }, 120_000);
    afterAll(() => all?.close());

    /** Notes a write before it is sent, and that it was acknowledged; false when the server died meanwhile. */
    async function write(
      written: Pick<Written, "chatId" | "id">,
      content: string,
      send: () => Promise<{ status: number }>,
    ) {
      const entry = ledger.get(written.id) ?? { ...written, content: undefined, maybe: undefined };
      ledger.set(written.id, entry);
      entry.maybe = content;
      const status = await send().then(
        (answer) => answer.status,
        () => 0,
      );
      if (status !== 0) {
        expect(status).toBe(200);
        entry.content = content;
        entry.maybe = undefined;
      }
      return status !== 0;
    }

    /** Makes a chat and talks in it until the server dies. */
    async function talk(): Promise<void> {
      const me = all.admin();
      const [title, userId, replyId] = [randomUUID(), randomUUID(), randomUUID()];
      const chat = { ...toChat(`asked ${userId}`, { userId, replyId }), title };
      const made = await me.call("POST /api/v1/chats/new", { chat }).catch(() => undefined);
      if (made === undefined) {
        return;
      }
      const chatId = made.body.id as string;
      titles.push(title);
      ledger.set(userId, { chatId, id: userId, content: `asked ${userId}`, maybe: undefined });
      for (let parent = replyId, isUp = true; isUp;) {
        const [asked, answered] = [randomUUID(), randomUUID()];
        const messages = {
          [asked]: toUserMessage(asked, `more ${asked}`, { parentId: parent, childrenIds: [answered] }),
          [answered]: toReply(answered, asked, { content: `reply ${answered}` }),
        };
        const update = { chat: { history: { currentId: answered, messages } } };
        const [own, next] = [randomUUID(), randomUUID()];
        isUp =
          (await write({ chatId, id: asked }, `more ${asked}`, () =>
            me.call(`POST /api/v1/chats/${chatId}`, update),
          )) &&
          (await write({ chatId, id: asked }, `edited ${asked}`, () =>
            me.call(`POST /api/v1/chats/${chatId}/messages/${asked}`, { content: `edited ${asked}` }),
          )) &&
          (await write({ chatId, id: own }, `run ${own}`, () =>
            me.complete({
              chat_id: chatId,
              id: next,
              user_message: { id: own, content: `run ${own}`, parentId: answered },
            }),
          ));
        parent = next;
      }
    }

    it(
      `${kills} times: nothing that was acknowledged is lost or doubled`,
      { timeout: kills * 60_000 },
      async () => {
        for (let round = 0; round < kills; round++) {
          const talks = Array.from({ length: 3 }, talk);
          await pause(200 + Math.random() * longest);
          await all.servers[0]!.kill();
          await Promise.all(talks);
          await all.start(0);
          await expectAll();
        }
        report("R1", `kill -9 under chat writes (${database})`, {
          kills,
          chats: titles.length,
          "acknowledged messages": [...ledger.values()].filter(({ content }) => content !== undefined).length,
          lost: 0,
          doubled: 0,
        });
        expect(ledger.size).toBeGreaterThan(kills);
      },
    );

    async function expectAll(): Promise<void> {
      const chats = (await all.admin().call("GET /api/v1/chats/all")).body as StoredChat[];
      const found = chats.map(({ title }) => title).filter((title) => titles.includes(title));
      expect(found.toSorted()).toEqual(titles.toSorted());
      const byId = new Map(chats.map((chat) => [chat.id, chat.chat.history.messages]));
      const lost: unknown[] = [];
      for (const { chatId, id, content, maybe } of ledger.values()) {
        const stored = byId.get(chatId)?.[id]?.content;
        if (stored !== content && (maybe === undefined || stored !== maybe)) {
          lost.push({ chatId, id, content, maybe, stored });
        }
      }
      expect(lost).toEqual([]);
      const said = chats.flatMap(({ chat }) =>
        Object.values(chat.history.messages).flatMap(({ role, content }) =>
          role === "user" ? [content] : [],
        ),
      );
      expect(said.length).toBe(new Set(said).size);
      expect(chats.flatMap(({ chat }) => faultsOf(chat.history.messages))).toEqual([]);
    }
  });
});

interface StoredChat {
  id: string;
  title: string;
  chat: {
    history: {
      messages: Record<
        string,
        { id: string; role: string; content: string; parentId: string | null; childrenIds: string[] }
      >;
    };
  };
}
