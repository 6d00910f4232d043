import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toReply, toUserMessage } from "#test/support/chat-driver.ts";
import { type ChatServers, databaseKinds, startChatServers } from "#test/support/chat-servers.ts";
import { percentile, report, times } from "#test/support/faults.ts";
import { faultsOf, type TreeNode } from "#test/support/message-tree.ts";
import { makePieces, paced } from "#test/support/upstream-paced.ts";

const edits = times(60, 1_000);

/** Promise R23: concurrent edits lose nothing and break no tree. */
describe.each(databaseKinds)("two tabs edit a chat while a run writes into it, on %s", (_name, database) => {
  describe("(promise R23)", () => {
    let all: ChatServers;
    beforeAll(async () => {
      all = await startChatServers({ database });
    }, 120_000);
    afterAll(() => all?.close());

    it(`${edits} edits each`, { timeout: 600_000 }, async () => {
      const me = all.admin();
      const chat = await me.makeChat();
      const { chatId, replyId } = chat;
      const pieces = makePieces(400);
      const [statuses, waits]: [Map<string, number>, number[]] = [new Map(), []];
      /** What each message that a tab owns says; deleted ones are gone. */
      const said = new Map<string, string>();
      const isOver = { value: false };
      let written = 0;
      const send = async (what: string, route: string, body?: unknown) => {
        const sent = performance.now();
        const { status } = await me.call(route, body, { prefer: "return=minimal" });
        waits.push(performance.now() - sent);
        statuses.set(`${what} ${status}`, (statuses.get(`${what} ${status}`) ?? 0) + 1);
        return status === 200;
      };
      const merge = (what: string, history: object) =>
        send(what, `POST /api/v1/chats/${chatId}`, { chat: { history } });

      /** One tab: it adds turns, edits, moves and deletes messages of its own branch, and shows it. */
      const tab = async () => {
        const own: string[] = [];
        for (let n = 0; n < edits; n++) {
          const target = own[Math.floor(Math.random() * own.length)];
          const kind = n % 4;
          if (kind === 0 || target === undefined) {
            const [u, a] = [randomUUID(), randomUUID()];
            const parentId = target ?? replyId;
            const messages = {
              [u]: toUserMessage(u, `said ${u}`, { parentId, childrenIds: [a] }),
              [a]: toReply(a, u, { content: `said ${a}` }),
            };
            if (await merge("add", { currentId: a, messages })) {
              own.push(u, a);
              [u, a].forEach((id) => said.set(id, `said ${id}`));
            }
          } else if (kind === 1) {
            const content = `edit ${n} of ${target}`;
            if (await send("edit", `POST /api/v1/chats/${chatId}/messages/${target}`, { content })) {
              said.set(target, content);
            }
          } else if (kind === 2) {
            // Below another of its own: a move below itself must be refused.
            const below = own[Math.floor(Math.random() * own.length)];
            await merge("move", { messages: { [target]: { parentId: below } } });
          } else if (await send("delete", `DELETE /api/v1/chats/${chatId}/messages/${target}`)) {
            own.splice(own.indexOf(target), 1);
            said.delete(target);
          }
        }
      };
      /** The same message is written again and again, as it is by who regenerates it. */
      const runs = async () => {
        while (!isOver.value || written === 0) {
          all.upstream.reply("/chat/completions", paced(pieces, { every: 2 }));
          const answer = await me.complete({
            chat_id: chatId,
            id: replyId,
            user_message: { id: chat.userId },
          });
          expect(answer.status).toBe(200);
          await me.ended(chatId);
          const { content, done } = await me.message(chatId, replyId);
          expect([content, done]).toEqual([pieces.join(""), true]);
          written += 1;
        }
      };
      const writing = runs();
      await Promise.all([tab(), tab()]).finally(() => (isOver.value = true));
      await writing;

      const { messages } = (await me.read(chatId)).chat.history as {
        messages: Record<string, TreeNode & { content: string }>;
      };
      expect(faultsOf(messages)).toEqual([]);
      const lost = [...said].filter(([id, content]) => messages[id]?.content !== content);
      expect(lost).toEqual([]);
      expect(Object.keys(messages).length).toBe(said.size + 2);
      const unexpected = [...statuses.keys()].filter((key) => !/ (200|400|409)$/.test(key));
      expect(unexpected).toEqual([]);
      report("R23", `two tabs and a run (${database})`, {
        ...Object.fromEntries(statuses),
        "replies written": written,
        "left messages": said.size,
        "edit p95 ms": percentile(waits, 95),
      });
      expect(statuses.get("edit 200") ?? 0).toBeGreaterThan(edits / 4);
    });
  });
});
