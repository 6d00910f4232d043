import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { type ChatClient, chatClient, replied, said } from "#plugins/chats/chats.fixture.ts";
import type { Answer } from "#test/support/app.ts";
import type { Script } from "#test/support/upstream-exchange.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { connectPlain } from "#test/support/sockets.ts";
import { startTasks, type TasksApp } from "./chat-tasks.fixture.ts";

/** A chat with a question and the message that answers it. */
export interface Place {
  readonly id: string;
  readonly question: string;
  readonly answer: string;
}

/** The stored chat with its reply. */
export interface Stored {
  readonly title: string;
  /** Names of tags. */
  readonly tags: string[];
  readonly meta: Readonly<Record<string, unknown>>;
  // oxlint-disable-next-line typescript/no-explicit-any -- messages are of every shape
  readonly message: any;
}

/** The results of a run: the stored chat, the events on the socket, and the tasks that the model got. */
export interface Ended extends Stored {
  readonly events: unknown[];
  readonly asked: unknown[];
}

/** Chats that are run over HTTP while a socket of their owner listens. */
export interface ChatRuns {
  readonly tasks: TasksApp;
  readonly me: ChatClient;
  /** The answers of the task model, by the name of the task. */
  readonly answers: Record<string, Script>;
  /** Back to answers that are of use. */
  reset(): void;
  makeChat(more?: object): Promise<Place>;
  start(place: Place, backgroundTasks: object | undefined, more?: object): Promise<Answer>;
  /** Resolves when nothing runs in the chat. */
  ended(place: Place): Promise<void>;
  /** Starts a run and waits for its end. */
  run(place: Place, backgroundTasks: object | undefined, more?: object): Promise<Ended>;
  read(place: Place): Promise<Stored>;
  /** The events after replies of a chat, with the end of each reply. */
  eventsOf(place: Pick<Place, "id">): unknown[];
  close(): Promise<void>;
}

export const everything = { title_generation: true, tags_generation: true, follow_up_generation: true };
export const suggested = ["chat:message:follow_ups", { follow_ups: ["How far is it?", "How old is it?"] }];
export const titled = ["chat:title", "🌙 The moon"];
export const tagged = ["chat:tags", ["Science", "Night Sky"]];

export async function startChatRuns(): Promise<ChatRuns> {
  const tasks = await startTasks({ CHAT_TASK_TIMEOUT_SECONDS: "2" });
  const { app, upstream } = tasks;
  const me = chatClient(app, tasks.admin.token);
  const socket = await connectPlain(app.url, { token: tasks.admin.token });
  await socket.sessionId();
  const answers: Record<string, Script> = {};
  upstream.always("/chat/completions", text("It is above you."));
  upstream.always(
    ({ headers }) => Object.hasOwn(answers, String(headers["x-task"])),
    (exchange) => answers[String(exchange.request.headers["x-task"])]!(exchange),
  );
  const runs: ChatRuns = {
    tasks,
    me,
    answers,
    reset() {
      answers["title_generation"] = text('{"title": "🌙 The moon"}');
      answers["tags_generation"] = text('{"tags": ["Science", "Night Sky"]}');
      answers["follow_up_generation"] = text('{"follow_ups": ["How far is it?", "How old is it?"]}');
    },
    async makeChat(more = {}) {
      const [question, answer] = [randomUUID(), randomUUID()];
      const messages = {
        [question]: said(question, "Where is the moon?", { childrenIds: [answer] }),
        [answer]: replied(answer, question, { content: "", done: false }),
      };
      const made = await me.make({ title: "New Chat", history: { currentId: answer, messages }, ...more });
      return { id: made.id, question, answer };
    },
    start: (place, backgroundTasks, more = {}) =>
      tasks.admin.call("POST /api/chat/completions", {
        ...toRequest(place),
        background_tasks: backgroundTasks,
        ...more,
      }),
    ended: ({ id }) =>
      expect
        .poll(async () => (await tasks.admin.call(`GET /api/tasks/chat/${id}`)).body.task_ids, {
          timeout: 15_000,
        })
        .toEqual([]),
    async run(place, backgroundTasks, more) {
      const before = upstream.requests.length;
      expect((await runs.start(place, backgroundTasks, more)).status).toBe(200);
      await runs.ended(place);
      // Whatever was told before the acknowledgement has arrived with it.
      await socket.emit("heartbeat", {});
      const asked = upstream.requests
        .slice(before)
        .map(({ headers }) => headers["x-task"])
        .filter((task) => task !== undefined && task !== "");
      return { asked, events: runs.eventsOf(place), ...(await runs.read(place)) };
    },
    async read({ id, answer }) {
      const chat = await me.read(id);
      const tags = (await me.call(`GET /${id}/tags`)).body.map(({ name }: { name: string }) => name);
      return { title: chat.title, tags, meta: chat.meta, message: chat.chat.history.messages[answer] };
    },
    eventsOf: ({ id }) =>
      socket.events
        .filter(({ event, data }) => event === "events" && data.chat_id === id)
        .map(({ data }) => [data.data.type, data.data.data] as const)
        .filter(([type, data]) => /title|tags|follow_ups|error/.test(type) || data?.done === true)
        .map(([type, data]) => (type === "chat:completion" ? "done" : [type, data])),
    async close() {
      socket.close();
      await tasks.close();
    },
  };
  return runs;
}

function toRequest({ id, question, answer }: Place) {
  return {
    model: "alpha",
    stream: true,
    chat_id: id,
    id: answer,
    session_id: "s",
    user_message: { id: question, role: "user", content: "Where is the moon?" },
    messages: [{ role: "user", content: "Where is the moon?" }],
  };
}
