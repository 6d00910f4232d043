import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Script } from "#test/support/upstream-exchange.ts";
import { failure, text } from "#test/support/upstream-scripts.ts";
import { writtenReply } from "#test/support/upstream-written.ts";
import { replied, said } from "#plugins/chats/chats.fixture.ts";
import { type ChatRuns, everything, startChatRuns, suggested, tagged, titled } from "./after-run.fixture.ts";

let runs: ChatRuns;

beforeAll(async () => void (runs = await startChatRuns()));
afterAll(() => runs.close());
beforeEach(() => runs.reset());

describe("after the first reply", () => {
  it("suggestions, a title and tags come in this order, are told and stored", async () => {
    const place = await runs.makeChat();
    const { asked, events, title, tags, meta, message } = await runs.run(place, everything);
    expect(asked).toEqual(["follow_up_generation", "title_generation", "tags_generation"]);
    expect(events).toEqual(["done", suggested, titled, tagged]);
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
    expect((await runs.me.call("GET /search?text=tag:night_sky")).body).toMatchObject([{ id: place.id }]);
  });

  it("the model sees what was said, and which chat it is about", async () => {
    const place = await runs.makeChat();
    const seen = runs.tasks.upstream.nextRequest(
      ({ headers }) => headers["x-task"] === "title_generation" && headers["x-chat"] === place.id,
    );
    await runs.run(
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

  it("the operator's template gets the stored messages, all of them", async () => {
    const [system, question, answer] = [randomUUID(), randomUUID(), randomUUID()];
    const messages = {
      [system]: { id: system, role: "system", content: "Be brief.", parentId: null, childrenIds: [question] },
      [question]: said(question, "Where is the moon?", { parentId: system, childrenIds: [answer] }),
      [answer]: replied(answer, question, { content: "", done: false }),
    };
    const { id } = await runs.me.make({ title: "New Chat", history: { currentId: answer, messages } });
    const setting = "FOLLOW_UP_GENERATION_PROMPT_TEMPLATE";
    await runs.tasks.set({ [setting]: "own {{MESSAGES}}" });
    const seen = runs.tasks.upstream.nextRequest(
      ({ headers }) => headers["x-task"] === "follow_up_generation" && headers["x-chat"] === id,
    );
    await runs.run({ id, question, answer }, { follow_up_generation: true });
    await runs.tasks.set({ [setting]: "" });
    expect((await seen).body.messages[0].content).toBe(
      "own SYSTEM: Be brief.\nUSER: Where is the moon?\nASSISTANT: It is above you.",
    );
  });

  it.each([
    [undefined, []],
    [{}, []],
    [{ tags_generation: false, follow_up_generation: null }, []],
    [{ tags_generation: true }, ["tags_generation"]],
    [{ title_generation: true, follow_up_generation: true }, ["follow_up_generation", "title_generation"]],
  ])("only what was asked for is done: %j", async (background, expected: string[]) => {
    const { asked, title, meta, message } = await runs.run(await runs.makeChat(), background);
    expect(asked).toEqual(expected);
    expect([title === "New Chat", meta.tags === undefined, message.followUps === undefined]).toEqual([
      !expected.includes("title_generation"),
      !expected.includes("tags_generation"),
      !expected.includes("follow_up_generation"),
    ]);
  });

  it("of a model that is no language model there is a title, and nothing invented", async () => {
    const { title, events } = await runs.run(await runs.makeChat(), everything, { model: "guide" });
    expect([title, events]).toEqual(["Where is the moon?", ["done", ["chat:title", "Where is the moon?"]]]);
  });

  it("nothing is done that is switched off", async () => {
    const off = {
      ENABLE_TITLE_GENERATION: false,
      ENABLE_TAGS_GENERATION: false,
      ENABLE_FOLLOW_UP_GENERATION: false,
    };
    await runs.tasks.set(off);
    const { asked, events, title } = await runs.run(await runs.makeChat(), everything);
    expect([asked, events, title]).toEqual([[], ["done"], "New Chat"]);
    await runs.tasks.set(Object.fromEntries(Object.keys(off).map((name) => [name, true])));
  });

  it("of several models the chat is titled and tagged once, and each reply has suggestions", async () => {
    const place = await runs.makeChat();
    const other = randomUUID();
    const message_ids = [
      { model_id: "alpha", message_id: place.answer },
      { model_id: "worker", message_id: other },
    ];
    const { asked } = await runs.run(place, everything, { message_ids });
    expect(asked.toSorted()).toEqual([
      "follow_up_generation",
      "follow_up_generation",
      "tags_generation",
      "title_generation",
    ]);
    expect((await runs.read({ ...place, answer: other })).message.followUps).toHaveLength(2);
  });
});

describe("a title", () => {
  it.each([
    ["no JSON", text("I cannot.")],
    ["another shape", text('{"title": 7}')],
    ["a refusal", failure(500, "overloaded")],
    ["no end", ((exchange) => exchange.hold()) as Script],
  ])("is what the person wrote first when the model gives %s", async (_name, script) => {
    runs.answers["title_generation"] = script;
    const { title, events, message } = await runs.run(await runs.makeChat(), { title_generation: true });
    expect([title, message.error]).toEqual(["Where is the moon?", undefined]);
    expect(events).toEqual(["done", ["chat:title", "Where is the moon?"]]);
  });

  it("that a person gives meanwhile stays", async () => {
    const place = await runs.makeChat();
    runs.answers["title_generation"] = async (exchange) => {
      await runs.me.call(`POST /${place.id}`, { chat: { title: "Mine" } });
      await text('{"title": "Its"}')(exchange);
    };
    const { title, events } = await runs.run(place, { title_generation: true });
    expect([title, events]).toEqual(["Mine", ["done"]]);
    // The answer is written once more; the title is the person's still.
    runs.answers["title_generation"] = text('{"title": "Again"}');
    expect((await runs.run(place, { title_generation: true })).title).toBe("Mine");
  });

  it("that a model gave makes way for another while the chat is no longer", async () => {
    const place = await runs.makeChat();
    await runs.run(place, { title_generation: true });
    runs.answers["title_generation"] = text('{"title": "Better"}');
    expect((await runs.run(place, { title_generation: true })).title).toBe("Better");
  });
});

describe("later replies", () => {
  it("have suggestions and leave the chat's title and tags alone", async () => {
    const place = await runs.makeChat();
    await runs.run(place, undefined);
    const next = { id: place.id, question: randomUUID(), answer: randomUUID() };
    const user_message = { id: next.question, role: "user", content: "Why?", parentId: place.answer };
    const { asked, title, message } = await runs.run(next, everything, { user_message });
    expect([asked, title, message.followUps?.length]).toEqual([["follow_up_generation"], "New Chat", 2]);
  });
});

describe("what goes wrong", () => {
  it("stays in the log: the reply is complete, and other tasks are done", async () => {
    runs.answers["follow_up_generation"] = failure(500, "overloaded");
    runs.answers["tags_generation"] = text("{{{{");
    const { events, title, message } = await runs.run(await runs.makeChat(), everything);
    expect(events).toEqual(["done", titled]);
    expect([title, message.content, message.error]).toEqual(["🌙 The moon", "It is above you.", undefined]);
  });

  it("leaves a reply that is written anew without the suggestions of the one before", async () => {
    const place = await runs.makeChat();
    expect((await runs.run(place, everything)).message.followUps).toHaveLength(2);
    runs.answers["follow_up_generation"] = text("");
    expect((await runs.run(place, everything)).message.followUps).toBeUndefined();
  });

  it("does not keep tags from being added to those there are", async () => {
    const place = await runs.makeChat({ tags: ["mine"] });
    runs.answers["tags_generation"] = text(String.raw`{"tags": ["MINE", "none", "new\u0000 one", "none "]}`);
    const { meta, tags } = await runs.run(place, { tags_generation: true });
    expect([meta.tags, tags]).toEqual([
      ["mine", "new_one"],
      ["mine", "new one"],
    ]);
  });

  it("a stopped reply still gives its chat a title and tags, and suggests nothing", async () => {
    const place = await runs.makeChat();
    const written = writtenReply();
    runs.tasks.upstream.reply(({ headers }) => headers["x-chat"] === place.id, written.script);
    const asked = runs.tasks.upstream.nextRequest(({ headers }) => headers["x-chat"] === place.id);
    await runs.start(place, everything);
    await asked;
    written.write("It is ");
    await expect.poll(async () => JSON.stringify((await runs.read(place)).message)).toContain("It is");
    await runs.tasks.admin.call(`POST /api/tasks/chat/${place.id}/stop`);
    await runs.ended(place);
    const { title, meta, message } = await runs.read(place);
    expect([title, meta.tags]).toEqual(["🌙 The moon", ["science", "night_sky"]]);
    expect(message).toMatchObject({ done: true, content: "It is ", ending: "stopped" });
    expect(message.followUps).toBeUndefined();
  });

  it("a run that is stopped behind its reply asks no more, and nothing of it is stored", async () => {
    const place = await runs.makeChat();
    const held = Promise.withResolvers<void>();
    runs.answers["follow_up_generation"] = async (exchange) => {
      held.resolve();
      await exchange.hold();
    };
    const before = runs.tasks.upstream.requests.length;
    await runs.start(place, everything);
    await held.promise;
    await runs.tasks.admin.call(`POST /api/tasks/chat/${place.id}/stop`);
    await runs.ended(place);
    const after = runs.tasks.upstream.requests.slice(before).map(({ headers }) => headers["x-task"]);
    expect(after).not.toContain("title_generation");
    expect([(await runs.read(place)).title, (await runs.read(place)).message.done]).toEqual([
      "New Chat",
      true,
    ]);
  });
});

it("of a temporary chat everything is told and nothing stored", async () => {
  const before = (await runs.me.call("GET /")).body.length;
  const place = { id: `temporary:${randomUUID()}`, question: randomUUID(), answer: randomUUID() };
  await runs.start(place, everything);
  await expect
    .poll(() => runs.eventsOf(place), { timeout: 15_000 })
    .toEqual(["done", suggested, titled, tagged]);
  expect((await runs.me.call("GET /")).body.length).toBe(before);
});
