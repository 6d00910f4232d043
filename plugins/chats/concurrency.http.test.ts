import { afterAll, beforeAll, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { faultsOf } from "#test/support/message-tree.ts";
import {
  chatClient,
  type ChatClient,
  conversation,
  chatServices,
  type ChatServices,
  replied,
  said,
} from "./chats.fixture.ts";

let app: App;
let user: TestUser;
let me: ChatClient;

let services: ChatServices;

beforeAll(async () => {
  app = await useApp();
  services = chatServices(app);
  user = await app.user();
  me = chatClient(app, user.token);
});
afterAll(() => app?.close());

// Promise R23.
it("two tabs that write one chat lose and orphan nothing", { timeout: 120_000 }, async () => {
  const { id } = await me.make(conversation());
  const turn = async (tab: string, n: number) => {
    const [u, a] = [`${tab}-u${n}`, `${tab}-a${n}`];
    const parentId = n === 0 ? "a1" : `${tab}-a${n - 1}`;
    const messages = { [u]: said(u, "x", { parentId }), [a]: replied(a, u) };
    const { status } = await me.call(
      `POST /${id}`,
      { chat: { history: { currentId: a, messages } } },
      minimal,
    );
    expect(status).toBe(200);
  };
  const tab = async (name: string) => {
    for (let n = 0; n < 25; n++) {
      await turn(name, n);
    }
  };
  await Promise.all([tab("left"), tab("right"), tab("third")]);
  const { chat } = await me.read(id);
  expect(Object.keys(chat.history.messages).length).toBe(2 + 3 * 50);
  expect(faultsOf(chat.history.messages)).toEqual([]);
  expect(new Set(chat.history.messages.a1.childrenIds)).toEqual(new Set(["left-u0", "right-u0", "third-u0"]));
});

it("moves that would make a circle together are not both done", { timeout: 120_000 }, async () => {
  for (let round = 0; round < 15; round++) {
    const messages = {
      r: said("r", "root"),
      x: said("x", "x", { parentId: "r" }),
      y: said("y", "y", { parentId: "r" }),
    };
    const { id } = await me.make({ history: { messages, currentId: "x" } });
    const move = (one: string, below: string) =>
      me.call(`POST /${id}`, { chat: { history: { messages: { [one]: { parentId: below } } } } }, minimal);
    const statuses = (await Promise.all([move("x", "y"), move("y", "x")])).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, 400]);
    expect(faultsOf((await me.read(id)).chat.history.messages)).toEqual([]);
  }
});

it("questions that come at once each bring their files into the chat's list", async () => {
  const { id } = await me.make(conversation());
  const owner = (await services.accounts.principalOf(user.id))!;
  const names = Array.from({ length: 6 }, (_, n) => `c${n}`);
  const ask = (name: string) =>
    services.chats.link(owner, id, {
      messages: [{ id: name, role: "user", content: "?", parentId: "a1" }],
      shown: name,
      addedFiles: [
        { type: "collection", id: "all" },
        { type: "collection", id: name },
      ],
    });
  await Promise.all(names.map(ask));
  const { chat } = await me.read(id);
  const listed = chat.files.map((file: { id: string }) => file.id).toSorted();
  expect(listed).toEqual(["all", ...names]);
});

it("deleting while others write below leaves a whole tree", { timeout: 120_000 }, async () => {
  for (let round = 0; round < 15; round++) {
    const { id } = await me.make(conversation());
    const messages = { u2: said("u2", "x", { parentId: "a1" }) };
    const [added, deleted] = await Promise.all([
      me.call(`POST /${id}`, { chat: { history: { messages } } }, minimal),
      me.call(`DELETE /${id}/messages/a1`, undefined, minimal),
    ]);
    expect(deleted.status).toBe(200);
    expect([200, 400]).toContain(added.status);
    const tree = (await me.read(id)).chat.history.messages;
    expect(faultsOf(tree)).toEqual([]);
    expect("u2" in tree).toBe(added.status === 200);
  }
});

it(
  "chats that are deleted while others write into them are gone, and say so",
  { timeout: 120_000 },
  async () => {
    for (let round = 0; round < 10; round++) {
      const { id } = await me.make(conversation());
      const writes = Array.from({ length: 4 }, (_, n) =>
        me.call(
          `POST /${id}`,
          { chat: { history: { messages: { [`m${n}`]: said(`m${n}`, "x") } } } },
          minimal,
        ),
      );
      const others = [
        me.call(`POST /${id}/tags`, { name: "t" }),
        me.call(`POST /${id}/share`),
        me.call(`POST /${id}/pin`),
      ];
      const deleted = await me.call(`DELETE /${id}`);
      const statuses = (await Promise.all([...writes, ...others])).map(({ status }) => status);
      expect(deleted.status).toBe(200);
      expect(statuses.filter((status) => ![200, 404].includes(status))).toEqual([]);
      expect((await me.call(`GET /${id}`)).status).toBe(404);
    }
  },
);

const minimal = { prefer: "return=minimal" };
