import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { chatClient, replied, said } from "#plugins/chats/chats.fixture.ts";
import type { Script } from "#test/support/upstream-exchange.ts";
import { failure, text } from "#test/support/upstream-scripts.ts";
import { connectPlain, type PlainClient } from "#test/support/sockets.ts";
import { startTasks, type TasksApp } from "./chat-tasks.fixture.ts";

let tasks: TasksApp;
let socket: PlainClient;
let me: ReturnType<typeof chatClient>;
/** What the task model answers, by the name of the task. */
let answers: Record<string, Script>;

const everything = { title_generation: true, tags_generation: true, follow_up_generation: true };

beforeAll(async () => {
  tasks = await startTasks({ CHAT_TASK_TIMEOUT_SECONDS: "2" });
  me = chatClient(tasks.app, tasks.admin.token);
  socket = await connectPlain(tasks.app.url, { token: tasks.admin.token });
  await socket.sessionId();
});

afterAll(async () => {
  socket.close();
  await tasks.close();
});

beforeEach(() => {
  answers = {
    title_generation: text('{"title": "🌙 The moon"}'),
    tags_generation: text('{"tags": ["Science", "Night Sky"]}'),
    follow_up_generation: text('{"follow_ups": ["How far is it?", "How old is it?"]}'),
  };
  tasks.upstream.always("/chat/completions", text("It is above you."));
  tasks.upstream.always(
    ({ headers }) => Object.hasOwn(answers, String(headers["x-task"])),
    (exchange) => answers[String(exchange.request.headers["x-task"])]!(exchange),
  );
});

/** A chat with a question and the place of its answer. */
const makeChat = (more: object = {}) => {
  const [question, answer] = [randomUUID(), randomUUID()];
  const list = {
    [question]: said(question, "Where is the moon?", { childrenIds: [answer] }),
    [answer]: replied(answer, question, { content: "", done: false }),
  };
  return me
    .make({ title: "New Chat", history: { currentId: answer, messages: list }, ...more })
    .then(({ id }: { id: string }) => ({ id, question, answer }));
};

interface Place {
  readonly id: string;
  readonly question: string;
  readonly answer: string;
}

const start = ({ id, question, answer }: Place, background_tasks: object | undefined, more: object = {}) =>
  tasks.app.call("POST /api/chat/completions", {
    token: tasks.admin.token,
    body: {
      model: "alpha",
      stream: true,
      chat_id: id,
      id: answer,
      session_id: "s",
      user_message: { id: question, role: "user", content: "Where is the moon?" },
      messages: [{ role: "user", content: "Where is the moon?" }],
      background_tasks,
      ...more,
    },
  });

const ended = ({ id }: Place) =>
  expect
    .poll(
      async () => {
        const { body } = await tasks.app.call(`GET /api/tasks/chat/${id}`, { token: tasks.admin.token });
        return body.task_ids;
      },
      { timeout: 15_000 },
    )
    .toEqual([]);

/** Runs a reply to its end; resolves to the stored chat, the events and the tasks that the model was asked. */
async function run(place: Place, background_tasks: object | undefined, more: object = {}) {
  const before = tasks.upstream.requests.length;
  const { status } = await start(place, background_tasks, more);
  expect(status).toBe(200);
  await ended(place);
  const asked = tasks.upstream.requests
    .slice(before)
    .map(({ headers }) => headers["x-task"])
    .filter((task) => task !== undefined && task !== "");
  return { asked, events: eventsOf(place), ...(await read(place)) };
}

async function read({ id, answer }: Place) {
  const chat = await me.read(id);
  const tags = (await me.call(`GET /${id}/tags`)).body.map(({ name }: { name: string }) => name);
  return { title: chat.title, tags, meta: chat.meta, message: chat.chat.history.messages[answer] };
}

/** Events of a chat that concern what follows a reply, and where the reply ended. */
function eventsOf({ id }: Place) {
  return socket.events
    .filter(({ event, data }) => event === "events" && data.chat_id === id)
    .map(({ data }) => [data.data.type, data.data.data] as const)
    .filter(([type, data]) => /title|tags|follow_ups|error/.test(type) || data?.done === true)
    .map(([type, data]) => (type === "chat:completion" ? "done" : [type, data]));
}

const suggested = ["chat:message:follow_ups", { follow_ups: ["How far is it?", "How old is it?"] }];
const tagged = ["chat:tags", ["Science", "Night Sky"]];

describe("after the first reply", () => {
  it("suggestions, a title and tags come in this order, are told and stored", async () => {
    const place = await makeChat();
    const { asked, events, title, tags, meta, message } = await run(place, everything);
    expect(asked).toEqual(["follow_up_generation", "title_generation", "tags_generation"]);
    expect(events).toEqual(["done", suggested, ["chat:title", "🌙 The moon"], tagged]);
    expect([title, tags, meta.tags]).toEqual([
      "🌙 The moon",
      expect.arrayContaining(["Science", "Night Sky"]),
      ["science", "night_sky"],
    ]);
    expect(message).toMatchObject({
      content: "It is above you.",
      done: true,
      followUps: ["How far is it?", "How old is it?"],
    });
    expect((await me.call("GET /search?text=tag:night_sky")).body).toMatchObject([{ id: place.id }]);
  });

  it("the model sees what was said, and which chat it is about", async () => {
    const place = await makeChat();
    const seen = tasks.upstream.nextRequest(
      ({ headers }) => headers["x-task"] === "title_generation" && headers["x-chat"] === place.id,
    );
    await run(
      place,
      { title_generation: true },
      {
        messages: [
          { role: "system", content: "Secret." },
          { role: "user", content: "Where is the moon?" },
        ],
      },
    );
    const { content } = (await seen).body.messages[0];
    expect(content).toContain("\nUSER: Where is the moon?\nASSISTANT: It is above you.\n");
    expect(content).not.toContain("Secret.");
  });

  it.each([
    [undefined, [] as string[]],
    [{}, []],
    [{ title_generation: "yes", tags_generation: false, follow_up_generation: null }, []],
    [{ tags_generation: true }, ["tags_generation"]],
    [{ title_generation: true, follow_up_generation: true }, ["follow_up_generation", "title_generation"]],
  ])("only what was asked for is done: %j", async (background, expected) => {
    const { asked, title, meta, message } = await run(await makeChat(), background);
    expect(asked).toEqual(expected);
    expect([title === "New Chat", meta.tags === undefined, message.followUps === undefined]).toEqual([
      !expected.includes("title_generation"),
      !expected.includes("tags_generation"),
      !expected.includes("follow_up_generation"),
    ]);
  });

  it("nothing is done that is switched off", async () => {
    const off = {
      ENABLE_TITLE_GENERATION: false,
      ENABLE_TAGS_GENERATION: false,
      ENABLE_FOLLOW_UP_GENERATION: false,
    };
    await tasks.set(off);
    const { asked, events, title } = await run(await makeChat(), everything);
    expect([asked, events, title]).toEqual([[], ["done"], "New Chat"]);
    await tasks.set(Object.fromEntries(Object.keys(off).map((name) => [name, true])));
  });

  it("of several models the chat is titled and tagged once, and each reply has suggestions", async () => {
    const place = await makeChat();
    const other = randomUUID();
    const message_ids = [
      { model_id: "alpha", message_id: place.answer },
      { model_id: "worker", message_id: other },
    ];
    const { asked } = await run(place, everything, { message_ids });
    expect(asked.toSorted()).toEqual([
      "follow_up_generation",
      "follow_up_generation",
      "tags_generation",
      "title_generation",
    ]);
    expect((await read({ ...place, answer: other })).message.followUps).toHaveLength(2);
  });
});

describe("a title", () => {
  it.each([
    ["no JSON", text("I cannot.")],
    ["another shape", text('{"title": 7}')],
    ["a refusal", failure(500, "overloaded")],
    ["no end", ((exchange) => exchange.hold()) as Script],
  ])("is what the person wrote first when the model gives %s", async (_name, script) => {
    answers["title_generation"] = script;
    const { title, events, message } = await run(await makeChat(), { title_generation: true });
    expect([title, message.error]).toEqual(["Where is the moon?", undefined]);
    expect(events).toEqual(["done", ["chat:title", "Where is the moon?"]]);
  });

  it("that a person gives meanwhile stays", async () => {
    const place = await makeChat();
    answers["title_generation"] = async (exchange) => {
      await me.call(`POST /${place.id}`, { chat: { title: "Mine" } });
      await text('{"title": "Its"}')(exchange);
    };
    const { title, events } = await run(place, { title_generation: true });
    expect([title, events]).toEqual(["Mine", ["done"]]);
    // The answer is written once more; the title is the person's still.
    answers["title_generation"] = text('{"title": "Again"}');
    expect((await run(place, { title_generation: true })).title).toBe("Mine");
  });

  it("that a model gave makes way for another while the chat is no longer", async () => {
    const place = await makeChat();
    await run(place, { title_generation: true });
    answers["title_generation"] = text('{"title": "Better"}');
    expect((await run(place, { title_generation: true })).title).toBe("Better");
  });
});

describe("later replies", () => {
  it("have suggestions and leave the chat's title and tags alone", async () => {
    const place = await makeChat();
    await run(place, undefined);
    const next = { id: place.id, question: randomUUID(), answer: randomUUID() };
    const user_message = { id: next.question, role: "user", content: "Why?", parentId: place.answer };
    const { asked, title, message } = await run(next, everything, { user_message });
    expect([asked, title, message.followUps?.length]).toEqual([["follow_up_generation"], "New Chat", 2]);
  });
});

describe("what goes wrong", () => {
  it("stays in the log: the reply is complete, and other tasks are done", async () => {
    answers["follow_up_generation"] = failure(500, "overloaded");
    answers["tags_generation"] = text("{{{{");
    const { events, title, message } = await run(await makeChat(), everything);
    expect(events).toEqual(["done", ["chat:title", "🌙 The moon"]]);
    expect([title, message.content, message.error]).toEqual(["🌙 The moon", "It is above you.", undefined]);
  });

  it("does not keep tags from being added to those there are", async () => {
    const place = await makeChat({ tags: ["mine"] });
    answers["tags_generation"] = text(String.raw`{"tags": ["MINE", "none", "new\u0000 one", "none "]}`);
    const { meta, tags } = await run(place, { tags_generation: true });
    expect([meta.tags, tags]).toEqual([
      ["mine", "new_one"],
      ["mine", "new one"],
    ]);
  });

  it("a stopped run asks no more, and nothing of it is stored", async () => {
    const place = await makeChat();
    const held = Promise.withResolvers<void>();
    answers["follow_up_generation"] = async (exchange) => {
      held.resolve();
      await exchange.hold();
    };
    const before = tasks.upstream.requests.length;
    await start(place, everything);
    await held.promise;
    await tasks.app.call(`POST /api/tasks/chat/${place.id}/stop`, { token: tasks.admin.token });
    await ended(place);
    const after = tasks.upstream.requests.slice(before).map(({ headers }) => headers["x-task"]);
    expect(after).not.toContain("title_generation");
    expect([(await read(place)).title, (await read(place)).message.done]).toEqual(["New Chat", true]);
  });
});

it("of a temporary chat everything is told and nothing stored", async () => {
  const before = (await me.call("GET /")).body.length;
  const place = { id: `temporary:${randomUUID()}`, question: randomUUID(), answer: randomUUID() };
  await start(place, everything);
  await expect
    .poll(() => eventsOf(place), { timeout: 15_000 })
    .toEqual(["done", suggested, ["chat:title", "🌙 The moon"], tagged]);
  expect((await me.call("GET /")).body.length).toBe(before);
});
