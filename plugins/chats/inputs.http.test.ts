import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { App } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { type ChatClient, chatClient } from "./chats.fixture.ts";

let app: App;
let me: ChatClient;

beforeAll(async () => {
  app = await useApp();
  me = chatClient(app, (await app.user()).token);
});
afterAll(() => app?.close());

it("variables of a chat are replaced by a change that names them, and stay else", async () => {
  const { id } = await me.make({ title: "T" }, { variables: { tone: "warm" } });
  const change = async (more: object) => (await me.call(`POST /${id}`, { chat: {}, ...more })).body.variables;
  expect(await change({})).toEqual({ tone: "warm" });
  expect(await change({ variables: { city: "Bern" } })).toEqual({ city: "Bern" });
  expect((await me.read(id)).variables).toEqual({ city: "Bern" });
  expect((await me.call(`POST /${id}`, { chat: {}, variables: "x" })).status).toBe(422);
  expect(await change({ variables: null })).toEqual({});
  expect((await me.read(id)).variables).toEqual({});
});

describe("a chat is made", () => {
  it("in no folder where the folder's id is empty", async () => {
    const made = await me.make({ title: "Loose" }, { folder_id: "" });
    expect(made.folder_id).toBeNull();
    const { status, body } = await me.call("POST /import", {
      chats: [{ chat: { title: "Brought" }, folder_id: "" }],
    });
    expect([status, body[0].folder_id]).toEqual([200, null]);
    const listed = (await me.call("GET /")).body.map(({ title }: { title: string }) => title);
    expect(listed).toEqual(expect.arrayContaining(["Brought", "Loose"]));
  });

  it.each([
    ["history", "x"],
    ["messages", {}],
    ["files", {}],
    ["tags", "x"],
    ["params", "x"],
    ["params", []],
    ["currentId", 1],
    ["timestamp", "x"],
  ])("but not with a %s that is %j, and the field is named", async (field, value) => {
    const chat = { title: "T", models: [], [field]: value };
    for (const [route, body] of [
      ["POST /new", { chat }],
      ["POST /import", { chats: [{ chat }] }],
      ["POST /ID", { chat: { [field]: value } }],
    ] as const) {
      const { id } = await me.make({ title: "T" });
      const before = await me.read(id);
      const answer = await me.call(route.replace("ID", id), body);
      expect([route, answer.status]).toEqual([route, 422]);
      expect(answer.body.detail[0].loc).toContain(field);
      expect(await me.read(id)).toEqual(before);
    }
  });

  it.each([
    ["content", 5],
    ["timestamp", "x"],
    ["models", "alpha"],
    ["model", 5],
    ["modelName", {}],
    ["modelIdx", "0"],
    ["modelIdx", 0.5],
    ["done", "yes"],
    ["output", {}],
    ["usage", []],
    ["sources", "x"],
    ["files", "x"],
  ])("but not with a message whose %s is %j; imports keep it", async (field, value) => {
    const message = { id: "m", role: "user", content: "q", childrenIds: [], [field]: value };
    const chat = { title: "T", models: [], history: { currentId: "m", messages: { m: message } } };
    const { id } = await me.make({ title: "T" });
    for (const route of ["POST /new", `POST /${id}`]) {
      expect(await me.call(route, { chat })).toMatchObject({
        status: 400,
        body: { detail: expect.stringContaining(`m has a field ${field}`) },
      });
    }
    expect((await me.call("POST /import", { chats: [{ chat }] })).status).toBe(200);
  });
});

it("tags may be named by objects, as lists of tags have them, and what names none is refused", async () => {
  const { chat } = await me.make({ title: "T", tags: ["One", { name: "Two Words" }] });
  expect(chat.tags).toEqual(["one", "two_words"]);
  const wrong = { title: "T", models: [], tags: ["a", 5] };
  const answer = await me.call("POST /new", { chat: wrong });
  expect([answer.status, answer.body.detail[0].loc]).toEqual([422, ["body", "chat", "tags", 1]]);
  expect((await me.call("POST /import", { chats: [{ chat: wrong }] })).status).toBe(200);
});
