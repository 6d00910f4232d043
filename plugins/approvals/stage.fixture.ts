import { randomUUID } from "node:crypto";
import { eventsOf, type RunStage, startRunStage } from "#plugins/runs/runs.fixture.ts";
import { connectPlain, type PlainClient } from "#test/support/sockets.ts";
import { toolCallChunks } from "#test/support/upstream-chunks.ts";
import { sse, text } from "#test/support/upstream-scripts.ts";
import type { UpstreamRequest } from "#test/support/upstream-exchange.ts";
import { done, guarded } from "./guarded.fixture.ts";

// Payloads are of every shape.
// oxlint-disable-next-line typescript/no-explicit-any
type Any = any;

export const isCompletion = (request: UpstreamRequest) => request.path.endsWith("/chat/completions");

/** A run whose model calls guarded tools in its first round, and says "Fine." in its second. */
export interface AskingRun {
  readonly chatId: string;
  readonly userId: string;
  readonly replyId: string;
  /** The results of the calls as the model got them, in order. */
  told(): Promise<string[]>;
  /** The reply once the run has ended. */
  ended(): Promise<Any>;
  /** Resolves when the call waits for an approval, seen by this client. */
  waits(client: PlainClient, callId?: string): Promise<Any>;
  /** Posts an answer to the call. */
  answer(body: object, options?: { token?: string; callId?: string }): Promise<Any>;
}

export interface ApprovalStage extends RunStage {
  ask(
    calls: readonly { name: string; id?: string; arguments?: string }[],
    body?: object,
    token?: string,
  ): Promise<AskingRun>;
  /** A client of the admin's that answers questions of the server. */
  answering(answer: (data: Any) => unknown): Promise<PlainClient>;
}

export async function startApprovalStage(env: Record<string, string> = {}): Promise<ApprovalStage> {
  const stage = await startRunStage({ plugins: [guarded], env: { TOOL_APPROVAL_POLICY: "{}", ...env } });
  const clients: PlainClient[] = [];
  const { app, user, upstream } = stage;
  return {
    ...stage,
    async answering(answer) {
      const client = await connectPlain(app.url, { token: user.token, answer });
      clients.push(client);
      await client.sessionId();
      return client;
    },
    async ask(calls, body = {}, token = user.token) {
      done.length = 0;
      const wanted = calls.map(({ name, id = "call_1", arguments: args = "{}" }) => ({
        id,
        name,
        arguments: args,
      }));
      // Replies to different runs must not be mixed up.
      const seed = Math.floor(Math.random() * 2 ** 31);
      const isOurs = (request: UpstreamRequest) => isCompletion(request) && request.body?.seed === seed;
      upstream.reply(isOurs, sse(toolCallChunks(wanted)));
      upstream.reply(isOurs, text("Fine."));
      const isSecond = (request: UpstreamRequest) =>
        isOurs(request) && request.body.messages.some(({ role }: { role: string }) => role === "tool");
      const second = upstream.nextRequest(isSecond);
      const chat = await stage.makeChat();
      const answer = await stage.complete({ chat_id: chat.chatId, id: chat.replyId, seed, ...body }, token);
      if (answer.status !== 200) {
        throw new Error(`the run did not start: ${answer.text}`);
      }
      const place = { chatId: answer.body?.chat_id ?? chat.chatId, replyId: chat.replyId };
      return {
        ...chat,
        ...place,
        async told() {
          const { messages } = (await second).body;
          return messages
            .filter(({ role }: { role: string }) => role === "tool")
            .map(({ content }: { content: string }) => content);
        },
        async ended() {
          await stage.ended(place.chatId);
          return place.chatId.startsWith("temporary:")
            ? undefined
            : stage.message(place.chatId, place.replyId);
        },
        waits: async (client, callId = "call_1") => {
          const event = await client.event(
            (_, data) =>
              data?.message_id === place.replyId &&
              data.data.data?.output?.[0]?.call_id === callId &&
              data.data.data.output[0].status === "pending",
          );
          return event.data.data.output[0];
        },
        answer: (decision, { token = user.token, callId = "call_1" } = {}) =>
          app.call(`POST /api/v1/chats/${place.chatId}/messages/${place.replyId}/approvals/${callId}`, {
            token,
            body: decision,
          }),
      };
    },
    async close() {
      clients.forEach((client) => client.close());
      await stage.close();
    },
  };
}

/** The states of a call's approval as a client saw them, in order. */
export function approvalsOf(client: PlainClient, messageId: string): string[] {
  return eventsOf(client, messageId)
    .map(({ data }) => data.data?.output?.[0]?.approval?.status)
    .filter((status) => status !== undefined);
}

export const unknown = randomUUID();
