import { randomUUID } from "node:crypto";
import { type Answer, type App, startApp, type TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { connectPlain, type PlainClient } from "#test/support/sockets.ts";
import { toolCallChunks } from "#test/support/upstream-chunks.ts";
import type { UpstreamRequest } from "#test/support/upstream-exchange.ts";
import { sse, text } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream, useUpstream } from "#test/support/upstream.ts";
import type { AnyPlugin } from "#kernel/plugin.ts";

/**
 * A platform with an upstream that offers `alpha` and `beta` to its admin, who drives chats. Without plugins it is one
 * that other suites use as well, unless it is to be alone.
 */
export interface RunStage {
  readonly app: App;
  readonly upstream: Upstream;
  readonly user: TestUser;
  /** Creates a chat with a question `u…` and the placeholder of its answer. */
  makeChat(question?: string): Promise<{ chatId: string; userId: string; replyId: string }>;
  complete(body: object, token?: string): Promise<Answer>;
  /** Resolves when no run of the chat is left. */
  ended(chatId: string): Promise<void>;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every shape
  read(chatId: string): Promise<any>;
  // oxlint-disable-next-line typescript/no-explicit-any -- the same
  message(chatId: string, id: string): Promise<any>;
  /** A client of the admin's with the plain protocol. */
  connect(): Promise<PlainClient>;
  close(): Promise<void>;
}

export async function startRunStage(
  options: { env?: Record<string, string>; plugins?: readonly AnyPlugin[]; isAlone?: boolean } = {},
): Promise<RunStage> {
  const { plugins, isAlone = plugins !== undefined } = options;
  const upstream = await (isAlone ? startUpstream() : useUpstream());
  upstream.models = ["alpha", "beta"];
  const env = {
    OPENAI_API_BASE_URLS: upstream.url,
    OPENAI_API_KEYS: "key",
    // A scripted reply is for the question, not for a request that writes its search queries.
    ENABLE_RETRIEVAL_QUERY_GENERATION: "false",
    // Suites of approvals alone try what asks by itself.
    TOOL_APPROVAL_POLICY: '{"*": "auto"}',
    ...options.env,
  };
  const app = await (isAlone ? startApp({ plugins: plugins ?? [], env }) : useApp({ env }));
  const user = await app.admin();
  const call = (route: string, body?: unknown) => user.call(route, body);
  const read = async (chatId: string) => (await call(`GET /api/v1/chats/${chatId}`)).body;
  const clients: PlainClient[] = [];
  return {
    app,
    upstream,
    user,
    async makeChat(question = "Hi") {
      const [userId, replyId] = [randomUUID(), randomUUID()];
      const messages = {
        [userId]: { id: userId, role: "user", content: question, childrenIds: [replyId], models: ["alpha"] },
        [replyId]: toPlaceholder(replyId, userId),
      };
      const chat = { title: "A chat", models: ["alpha"], history: { currentId: replyId, messages } };
      const made = await call("POST /api/v1/chats/new", { chat });
      return { chatId: made.body.id, userId, replyId };
    },
    complete: (body, token = user.token) =>
      app.call("POST /api/chat/completions", {
        token,
        body: {
          model: "alpha",
          messages: [{ role: "user", content: "Hi" }],
          stream: true,
          session_id: "s1",
          ...body,
        },
      }),
    async ended(chatId) {
      for (;;) {
        const { status, body } = await call(`GET /api/tasks/chat/${chatId}`);
        if (status !== 200 || body.task_ids.length === 0) {
          return;
        }
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    read,
    message: async (chatId, id) => (await read(chatId)).chat.history.messages[id],
    async connect() {
      const client = await connectPlain(app.url, { token: user.token });
      clients.push(client);
      await client.sessionId();
      return client;
    },
    async close() {
      clients.forEach((client) => client.close());
      await app.close();
      await upstream.close();
    },
  };
}

/** A call of a tool that a scripted model makes. */
export interface ScriptedCall {
  readonly name: string;
  readonly args?: object | string;
  readonly id?: string;
}

export const isCompletion = (request: UpstreamRequest) => request.path.endsWith("/chat/completions");

/**
 * Runs a reply whose model makes these calls in its first round and says "Fine." in its second, to its end. Answers
 * the reply, what the model was offered, and the results as it got them.
 */
export async function runScripted(
  stage: RunStage,
  calls: readonly ScriptedCall[],
  {
    chat,
    token,
    ...body
  }: { chat?: { chatId: string; replyId: string }; token?: string; [key: string]: unknown } = {},
) {
  // Replies to different runs must not be mixed up.
  const seed = Math.floor(Math.random() * 2 ** 31);
  const isOurs = (request: UpstreamRequest) => isCompletion(request) && request.body?.seed === seed;
  const wanted = calls.map(({ name, args = {}, id }, at) => ({
    id: id ?? `call_${at + 1}`,
    name,
    arguments: typeof args === "string" ? args : JSON.stringify(args),
  }));
  if (wanted.length > 0) {
    stage.upstream.reply(isOurs, sse(toolCallChunks(wanted)));
  }
  stage.upstream.reply(isOurs, text("Fine."));
  const place = chat ?? (await stage.makeChat());
  const answer = await stage.complete({ chat_id: place.chatId, id: place.replyId, seed, ...body }, token);
  if (answer.status !== 200) {
    throw new Error(`the run did not start: ${answer.text}`);
  }
  await stage.ended(place.chatId);
  const asked = stage.upstream.requests.filter(isOurs);
  const results: string[] = (asked.at(-1)?.body.messages ?? [])
    .filter(({ role }: { role: string }) => role === "tool")
    .map(({ content }: { content: string }) => content);
  return {
    ...place,
    reply: place.chatId.startsWith("temporary:")
      ? undefined
      : await stage.message(place.chatId, place.replyId),
    offered: ((asked[0]?.body.tools ?? []) as { function: { name: string } }[]).map(
      (tool) => tool.function.name,
    ),
    results,
    // oxlint-disable-next-line typescript/no-explicit-any -- results are of every shape
    values: results.map((result): any => (/^[[{]/.test(result) ? JSON.parse(result) : result)),
  };
}

function toPlaceholder(id: string, parentId: string) {
  const names = { model: "alpha", modelName: "alpha", modelIdx: 0 };
  return {
    id,
    role: "assistant",
    content: "",
    parentId,
    childrenIds: [],
    done: false,
    timestamp: 1,
    ...names,
  };
}

/** The events of one message, in the order in which they came. */
// oxlint-disable-next-line typescript/no-explicit-any -- payloads are of every shape
export function eventsOf(client: PlainClient, messageId: string): any[] {
  return client.events.map(({ data }) => data).filter((data) => data?.message_id === messageId);
}
