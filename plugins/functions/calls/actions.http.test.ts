import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { addFunction, removeFunction, require } from "../functions.fixture.ts";

let app: App;
let admin: TestUser;

beforeAll(async () => {
  app = await useApp();
  admin = await app.admin();
});

afterAll(() => app.close());

const messages = [{ id: "m1", role: "assistant", content: "Long text" }];
const run = (id: string, token: string, body: object = {}) =>
  app.call(`POST /api/chat/actions/${id}`, { token, body: { model: "guide", messages, ...body } });
const actionsOf = async (token: string) => {
  const { body } = await require(app.call("GET /api/models", { token }));
  return body.data.find(({ id }: { id: string }) => id === "guide").actions;
};

describe("an action", () => {
  it("gets the conversation and answers what it returns", async () => {
    const code = `/** description: Shortens the answer */
      export const meta = { icon: "data:image/svg+xml,x" };
      export async function action(body, ctx) {
        return { messages: body.messages.map((m) => ({ ...m, content: m.content.slice(0, 4) })),
          told: [ctx.id, ctx.chat_id, ctx.message_id, ctx.session_id, ctx.model.id, ctx.user.name] }; }`;
    await addFunction(app, "shorten", code, { global: true });
    const member = await app.user();
    const answer = await require(
      run("shorten", member.token, { chat_id: "temporary:1", session_id: "s", id: "m1", extra: 1 }),
    );
    expect(answer.body).toEqual({
      messages: [{ id: "m1", role: "assistant", content: "Long" }],
      told: ["shorten", "temporary:1", "m1", "s", "guide", member.name],
    });
    expect(await actionsOf(member.token)).toEqual([
      { id: "shorten", name: "shorten", description: "Shortens the answer", icon: "data:image/svg+xml,x" },
    ]);
    await removeFunction(app, "shorten");
  });

  it("may be several, each under an id of its own, ordered by priority", async () => {
    const several = `export const actions = [{ id: "up", name: "Louder" }, { id: "down", name: "Quieter", icon_url: "i" }];
      export const meta = { priority: 2 };
      export function action(body, ctx) { return ctx.id; }`;
    await addFunction(app, "volume", several, { global: true });
    await addFunction(app, "zero", `export function action() {}`, { global: true });
    expect(
      (await actionsOf(admin.token)).map(({ id, name }: { id: string; name: string }) => [id, name]),
    ).toEqual([
      ["zero", "zero"],
      ["volume.up", "Louder"],
      ["volume.down", "Quieter"],
    ]);
    expect((await require(run("volume.down", admin.token))).body).toBe("down");
    expect((await require(run("zero", admin.token))).body).toBeNull();
    expect((await run("volume", admin.token)).status).toBe(404);
    expect((await run("volume.sideways", admin.token)).status).toBe(404);
    await removeFunction(app, "volume");
    await removeFunction(app, "zero");
  });

  it("fails with its own words", async () => {
    await addFunction(app, "picky", `export function action() { throw new Error("Nothing to do."); }`);
    const answer = await run("picky", admin.token);
    expect([answer.status, answer.body.detail]).toEqual([400, "Nothing to do."]);
    await removeFunction(app, "picky");
  });

  it("is there only for models it is offered beside, and only while it is on", async () => {
    await addFunction(app, "scoped", `export function action() { return "ran"; }`);
    const member = await app.user();
    expect((await run("scoped", member.token)).status).toBe(404);
    expect((await require(run("scoped", admin.token))).body).toBe("ran");
    expect((await run("scoped", admin.token, { model: "nope" })).status).toBe(404);
    await require(admin.call("POST /api/v1/functions/id/scoped/toggle"));
    expect((await run("scoped", admin.token)).status).toBe(404);
    await addFunction(app, "a_filter", `export function inlet(b) { return b; }`);
    expect((await run("a_filter", admin.token)).status).toBe(404);
    await removeFunction(app, "scoped");
    await removeFunction(app, "a_filter");
  });
});
