import { randomUUID } from "node:crypto";
import { definePlugin } from "#kernel/plugin.ts";
import { type ChatClient, chatClient, replied, said } from "#plugins/chats/chats.fixture.ts";
import { replies, type Replies } from "#plugins/chats/service.ts";
import { type RunStage, startRunStage } from "#plugins/runs/runs.fixture.ts";
import type { Answer } from "#test/support/app.ts";

/** A platform whose upstream writes replies (streamed) and summaries (whole). */
export interface CompactionStage extends RunStage {
  readonly replies: Replies;
  readonly me: ChatClient;
  /** Changes the settings. */
  set(body: object): Promise<Answer>;
  /** A chat of some turns `u1 a1 u2 a2 …`, the last reply with its usage. */
  talk(turns: number, usage?: object): Promise<string>;
  /** Asks one more question; resolves when the reply is there. */
  ask(chatId: string, parentId: string, more?: object): Promise<{ userId: string; replyId: string }>;
}

export const defaults = {
  ENABLE_CONTEXT_COMPACTION: null,
  CONTEXT_COMPACTION_MODEL: null,
  CONTEXT_COMPACTION_TOKEN_THRESHOLD: null,
  CONTEXT_COMPACTION_TOKEN_CAP: null,
  CONTEXT_COMPACTION_RETENTION_PERCENTAGE: null,
  CONTEXT_COMPACTION_PROMPT_TEMPLATE: null,
};

interface Asked {
  // oxlint-disable-next-line typescript/no-explicit-any -- bodies are of every shape
  readonly body: any;
}

export const isSummaryCall = ({ body }: Asked) => body?.stream === false;
export const isReplyCall = ({ body }: Asked) => body?.stream === true;

export async function startCompactionStage(): Promise<CompactionStage> {
  let stored: Replies | undefined;
  const probe = definePlugin({
    id: "compaction-probe",
    title: "Probe",
    uses: { replies },
    setup({ use }) {
      stored = use.replies;
      return {};
    },
  });
  const stage = await startRunStage({ plugins: [probe] });
  const { app, user } = stage;
  const me = chatClient(app, user.token);
  return {
    ...stage,
    replies: stored as Replies,
    me,
    set: (body) => user.call("POST /api/v1/chats/config", body),
    talk: async (turns, usage) =>
      (
        await me.make({
          models: ["alpha"],
          history: { currentId: `a${turns}`, messages: toTurns(turns, usage) },
        })
      ).id,
    async ask(chatId, parentId, more = {}) {
      const [userId, replyId] = [randomUUID(), randomUUID()];
      const user_message = { id: userId, content: "And now?", parentId };
      await stage.complete({ chat_id: chatId, id: replyId, user_message, ...more });
      await stage.ended(chatId);
      return { userId, replyId };
    },
  };
}

function toTurns(turns: number, usage: object | undefined): Record<string, unknown> {
  const messages: Record<string, unknown> = {};
  for (let at = 1; at <= turns; at += 1) {
    const children = { childrenIds: [`a${at}`], parentId: at === 1 ? null : `a${at - 1}` };
    messages[`u${at}`] = said(`u${at}`, `question ${at}`, children);
    const next = { model: "alpha", childrenIds: at === turns ? [] : [`u${at + 1}`] };
    const more = at === turns && usage ? { usage } : {};
    messages[`a${at}`] = replied(`a${at}`, `u${at}`, { content: `answer ${at}`, ...next, ...more });
  }
  return messages;
}
