import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ChatServers, databaseKinds, startChatServers } from "#test/support/chat-servers.ts";
import { report } from "#test/support/faults.ts";
import { connectPlain } from "#test/support/sockets.ts";

/** Kills its process the moment a chat was stored: its placeholders stand, and no run has taken them. */
const plugin = `
import { definePlugin } from "#kernel/plugin.ts";
import { events } from "#kernel/services.ts";
export default definePlugin({
  id: "assassin",
  title: "Assassin",
  uses: { events },
  setup({ use }) {
    use.events.on("chat.created", ({ data }) => data?.title === "New Chat" && process.kill(process.pid, "SIGKILL"));
    return {};
  },
});
`;

/** Promise R2, for replies that were not begun: nothing stays open for ever. */
describe.each(databaseKinds)("kill -9 between placing replies and writing them, on %s", (name, database) => {
  describe("(promise R2)", () => {
    let all: ChatServers;
    let folder: string;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "assassin-"));
      await mkdir(join(folder, "assassin"));
      await writeFile(join(folder, "assassin/plugin.ts"), plugin);
      const replicas = database === "server" ? 2 : 1;
      all = await startChatServers({ database, replicas, env: { PLUGINS_PATH: folder } });
    }, 120_000);
    afterAll(async () => {
      await all?.close();
      await rm(folder, { recursive: true, force: true });
    });

    it("the next process, or another replica, ends them", { timeout: 120_000 }, async () => {
      const [userId, ...replies] = [randomUUID(), randomUUID(), randomUUID()];
      const body = {
        parent_id: null,
        user_message: { id: userId, content: "Anybody?" },
        message_ids: replies.map((message_id) => ({ model_id: "alpha", message_id })),
      };
      const asked = await all
        .admin()
        .complete(body)
        .catch(() => undefined);
      expect(asked).toBeUndefined();
      const killed = performance.now();
      const at = database === "server" ? 1 : 0;
      if (at === 0) {
        await all.start(0);
      }
      const up = performance.now();
      const me = all.admin(at);
      const [listed, ...others] = (await me.call("GET /api/v1/chats/")).body;
      expect(others).toEqual([]);
      const client = await connectPlain(all.servers[at]!.url, { token: me.token });
      await client.sessionId();
      const readAll = async () => (await me.read(listed.id)).chat.history.messages;
      let messages = await readAll();
      while (replies.some((id) => !messages[id].done) && performance.now() - up < 20_000) {
        await pause(100);
        messages = await readAll();
      }
      const ms = performance.now() - (at === 0 ? up : killed);
      expect(messages[userId].content).toBe("Anybody?");
      expect(replies.map((id) => [messages[id].done, messages[id].error])).toEqual(
        replies.map(() => [true, { content: "interrupted" }]),
      );
      await me.ended(listed.id);
      report("R2", `killed before writing on ${name}`, { "placeholders ended after ms": ms });
      expect(ms).toBeLessThan(10_000);
      client.close();
    });
  });
});
