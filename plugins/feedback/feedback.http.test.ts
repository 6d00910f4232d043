import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { events } from "#kernel/services.ts";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { chatClient, conversation } from "#plugins/chats/chats.fixture.ts";

const heard: string[] = [];
let stopListening: () => void;

let app: App;
let admin: TestUser;
let user: TestUser;
let other: TestUser;

beforeAll(async () => {
  app = await useApp();
  stopListening = app.running.service(events).onSystemEvent(({ event }) => void heard.push(event));
  [admin, user, other] = [await app.admin(), await app.user(), await app.user()];
});
afterAll(async () => {
  stopListening?.();
  await app?.close();
});

const call = (who: TestUser, route: string, body?: unknown) => {
  const [method, path] = route.split(" ", 2) as [string, string];
  return who.call(`${method} /api/v1/evaluations${path}`, body);
};

async function chatOf(who: TestUser): Promise<string> {
  return (await chatClient(app, who.token).make(conversation())).id;
}

const form = (chatId: string, data: object = {}, meta: object = {}) => ({
  type: "rating",
  data: { rating: 1, model_id: "alpha", sibling_model_ids: ["beta"], ...data },
  meta: { chat_id: chatId, message_id: "a1", ...meta },
  snapshot: { chat: { title: "A chat", anything: [1] } },
});

interface Day {
  readonly date: string;
  readonly won: number;
  readonly lost: number;
}

async function rate(who: TestUser, data: object = {}, meta: object = {}) {
  const answer = await call(who, "POST /feedback", form(await chatOf(who), data, meta));
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

beforeEach(() => call(admin, "DELETE /feedbacks/all"));

describe("rating a reply", () => {
  it("stores it, shows it to its author and changes it", async () => {
    const chat = await chatOf(user);
    const made = (await call(user, "POST /feedback", form(chat, { user_id: other.id, odd: 1 }))).body;
    expect(made).toEqual({
      id: expect.any(String),
      user_id: user.id,
      version: 0,
      ...form(chat),
      created_at: expect.any(Number),
      updated_at: expect.any(Number),
    });
    const changed = await call(user, `POST /feedback/${made.id}`, {
      data: { rating: -1, model_id: "alpha", tags: ["slow"], comment: "no", details: { rating: 3 } },
    });
    expect(changed.body).toMatchObject({ data: { rating: -1, tags: ["slow"] }, meta: made.meta });
    expect((await call(user, `GET /feedback/${made.id}`)).body).toEqual(changed.body);
    const [listed, ...rest] = (await call(user, "GET /feedbacks/user")).body;
    expect(rest).toEqual([]);
    const { snapshot: _snapshot, ...facts } = changed.body;
    expect(listed).toEqual(facts);
    expect((await call(user, `DELETE /feedback/${made.id}`)).body).toBe(true);
    expect((await call(user, `GET /feedback/${made.id}`)).status).toBe(404);
  });

  it("again replaces the rating", async () => {
    const chat = await chatOf(user);
    const [first, second] = [
      await call(user, "POST /feedback", form(chat)),
      await call(user, "POST /feedback", form(chat, { rating: -1 })),
    ];
    expect(second.body).toMatchObject({ id: first.body.id, data: { rating: -1 } });
    expect((await call(user, "GET /feedbacks/user")).body.length).toBe(1);
  });

  it.each<[string, unknown, RegExp]>([
    ["no rating", form("c", { rating: 2 }), /rating/],
    ["no model", form("c", { model_id: undefined }), /model_id/],
    ["a comment without end", form("c", { comment: "x".repeat(20_001) }), /comment/],
    ["too many rivals", form("c", { sibling_model_ids: Array(51).fill("b") }), /sibling_model_ids/],
    ["no message", form("c", {}, { message_id: "" }), /message_id/],
    ["another kind", { ...form("c"), type: "poem" }, /type/],
  ])("with %s is refused, naming the field", async (_what, body, field) => {
    const answer = await call(user, "POST /feedback", body);
    expect(answer.status).toBe(422);
    expect(answer.text).toMatch(field);
  });

  it("with more of the chat than is taken is refused", async () => {
    const body = { ...form(await chatOf(user)), snapshot: { chat: { text: "x".repeat(5 * 1024 * 1024) } } };
    expect((await call(user, "POST /feedback", body)).status).toBe(413);
  });

  it("is for one's own replies only", async () => {
    const chat = await chatOf(other);
    const own = await chatOf(user);
    const absent = await call(user, "POST /feedback", form(randomUUID()));
    const foreign = await call(user, "POST /feedback", form(chat));
    expect([foreign.status, foreign.text]).toEqual([404, absent.text]);
    expect((await call(admin, "POST /feedback", form(chat))).status).toBe(404);
    expect((await call(user, "POST /feedback", form(own, {}, { message_id: "none" }))).status).toBe(404);
    const made = (await call(user, "POST /feedback", form(own))).body;
    for (const who of [user, admin]) {
      const moved = await call(who, `POST /feedback/${made.id}`, {
        meta: { chat_id: chat, message_id: "a1" },
      });
      expect(moved.status).toBe(404);
    }
    const temporary = form(`temporary:${randomUUID()}`);
    expect((await call(user, "POST /feedback", temporary)).status).toBe(200);
  });

  it("cannot move onto a reply that has feedback", async () => {
    const [first, second] = [await rate(user), await rate(user)];
    expect((await call(user, `POST /feedback/${second.id}`, { meta: first.meta })).status).toBe(409);
  });

  it("needs the permission, and rating to be switched on", async () => {
    const chat = await chatOf(user);
    const change = (body: object) => admin.call("POST /api/v1/users/default/permissions", body);
    const { body: tree } = await admin.call("GET /api/v1/users/default/permissions");
    await change({ ...tree, chat: { ...tree.chat, rate_response: false } });
    expect((await call(user, "POST /feedback", form(chat))).status).toBe(403);
    await change(tree);
    const set = (ENABLE_MESSAGE_RATING: boolean) =>
      admin.call("POST /api/v1/configs/settings", { ENABLE_MESSAGE_RATING });
    await set(false);
    expect((await call(user, "POST /feedback", form(chat))).status).toBe(403);
    await set(true);
    expect((await call(user, "POST /feedback", form(chat))).status).toBe(200);
  });
});

describe("who reaches feedback", () => {
  it("its author and administrators, and nobody else", async () => {
    const { id } = await rate(user);
    for (const [method, body] of [["GET"], ["POST", { data: { rating: 1, model_id: "x" } }], ["DELETE"]]) {
      const [foreign, absent] = [
        await call(other, `${method as string} /feedback/${id}`, body),
        await call(other, `${method as string} /feedback/${randomUUID()}`, body),
      ];
      expect([foreign.status, foreign.text]).toEqual([404, absent.text]);
    }
    expect((await call(other, "GET /feedbacks/user")).body).toEqual([]);
    expect((await call(other, "DELETE /feedbacks")).body).toBe(true);
    expect((await call(admin, `GET /feedback/${id}`)).body).toMatchObject({ id, user_id: user.id });
    expect((await call(admin, `DELETE /feedback/${id}`)).body).toBe(true);
  });

  it("nobody but administrators sees everybody's", async () => {
    for (const route of [
      "GET /feedbacks/list",
      "GET /feedbacks/models",
      "GET /feedbacks/all/ids",
      "GET /feedbacks/all/export",
      "DELETE /feedbacks/all",
      "GET /leaderboard",
      "GET /leaderboard/alpha/history",
    ]) {
      expect((await call(user, route)).status).toBe(403);
    }
  });

  it("one's own goes at once, and with the account", async () => {
    const gone = await app.user();
    await rate(gone);
    await rate(user);
    await rate(user, { model_id: "gamma" });
    expect((await call(user, "DELETE /feedbacks")).body).toBe(true);
    expect((await call(admin, "GET /feedbacks/models")).body).toEqual(["alpha"]);
    expect((await call(admin, "GET /leaderboard")).body.entries.length).toBe(2);
    await admin.call(`DELETE /api/v1/users/${gone.id}`);
    expect((await call(admin, "GET /feedbacks/all/ids")).body).toEqual([]);
    expect((await call(admin, "GET /leaderboard")).body).toEqual({ entries: [] });
  });
});

describe("for administrators", () => {
  it("everybody's feedback comes a page at a time, in order, with its author", async () => {
    const models = Array.from({ length: 33 }, (_, at) => `m${String(at).padStart(2, "0")}`);
    for (const [at, model_id] of models.entries()) {
      await rate(at % 2 ? user : other, { model_id, rating: at % 3 ? 1 : -1 });
    }
    const first = (await call(admin, "GET /feedbacks/list?order_by=model_id&direction=asc")).body;
    const second = (await call(admin, "GET /feedbacks/list?order_by=model_id&direction=asc&page=2")).body;
    expect(first.total).toBe(33);
    const ids = [...first.items, ...second.items].map(
      ({ data }: { data: { model_id: string } }) => data.model_id,
    );
    expect(ids).toEqual(models);
    expect(first.items[1].user).toEqual({ id: user.id, name: user.name, email: user.email, role: "user" });
    expect(first.items[1]).not.toHaveProperty("snapshot");
    const chosen = (await call(admin, "GET /feedbacks/list?model_id=m05&order_by=username")).body;
    expect(chosen).toMatchObject({ total: 1, items: [{ data: { model_id: "m05" } }] });
    expect((await call(admin, "GET /feedbacks/all/ids")).body.length).toBe(33);
    const all = (await call(admin, "GET /feedbacks/all/export")).body;
    expect(all.length).toBe(33);
    expect(new Set(all.map(({ id }: { id: string }) => id)).size).toBe(33);
    expect(all[0].snapshot).toEqual({ chat: { title: "A chat", anything: [1] } });
    expect((await call(admin, "GET /feedbacks/all/export?model_id=m07")).body.length).toBe(1);
  });

  it("models are compared by what people preferred, anew after every change", async () => {
    const board = async (query = "") => (await call(admin, `GET /leaderboard?query=${query}`)).body.entries;
    const first = await rate(user, { tags: ["helpful", "Deep Thought"] }, { tags: ["poetry"] });
    await rate(other, { sibling_model_ids: [] });
    expect(await board()).toEqual([
      {
        model_id: "alpha",
        rating: 1016,
        won: 1,
        lost: 0,
        count: 1,
        top_tags: ["Deep Thought", "helpful", "poetry"].map((tag) => ({ tag, count: 1 })),
      },
      { model_id: "beta", rating: 984, won: 0, lost: 1, count: 1, top_tags: [] },
    ]);
    await call(user, `POST /feedback/${first.id}`, {
      data: { rating: -1, model_id: "alpha", sibling_model_ids: ["beta"] },
    });
    expect((await board())[0]).toMatchObject({ model_id: "beta", rating: 1016 });
    await rate(user, { model_id: "gamma", tags: ["code"] });
    expect((await board("CODE+music")).map((entry: { model_id: string }) => entry.model_id)).toEqual([
      "gamma",
      "beta",
    ]);
    expect(await board("nothing")).toEqual([]);
  });

  it("a model's good and bad ratings are counted by day", async () => {
    const good = await rate(user, { model_id: "org/alpha:7b" });
    const bad = await rate(other, { model_id: "org/alpha:7b", rating: -1 });
    const path = `/leaderboard/${encodeURIComponent("org/alpha:7b")}/history`;
    const week = (await call(admin, `GET ${path}?days=7`)).body;
    expect(week.model_id).toBe("org/alpha:7b");
    expect(week.history.length).toBe(7);
    expect(week.history[0]).toMatchObject({ won: 0, lost: 0 });
    // Midnight may lie between the two.
    const days = [good, bad].map(({ created_at: at }) => new Date(at * 1000).toISOString().slice(0, 10));
    const rated = (week.history as Day[]).filter(({ won, lost }) => won + lost > 0);
    expect(rated.map(({ date }) => date)).toEqual([...new Set(days)]);
    expect(rated.find(({ date }) => date === days[0])?.won).toBe(1);
    expect(rated.find(({ date }) => date === days[1])?.lost).toBe(1);
    expect((await call(admin, `GET ${path}?days=0`)).body.history).toEqual(rated);
  });

  it("changes are announced", async () => {
    heard.length = 0;
    const { id } = await rate(user);
    await call(user, `POST /feedback/${id}`, { data: { rating: -1, model_id: "alpha" } });
    await call(user, `DELETE /feedback/${id}`);
    await call(user, "DELETE /feedbacks");
    const told = heard.filter((name) => name.startsWith("feedback."));
    expect(told).toEqual(["created", "updated", "deleted", "deleted_all"].map((name) => `feedback.${name}`));
  });
});
