import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { ownedRows } from "#test/support/owned-rows.ts";
import { routesOf } from "#test/support/probe.ts";
import { type ChannelClient, channelClient } from "./channels.fixture.ts";

// Channel member rule 2 of the configuration document.

let app: App;
let ann: ChannelClient;
let ben: ChannelClient;

beforeAll(async () => {
  app = await startApp({ env: { ENABLE_CHANNELS: "true" } });
});
beforeEach(async () => {
  [ann, ben] = [channelClient(app, await app.user()), channelClient(app, await app.user())];
});
afterAll(() => app?.close());

describe("a channel", () => {
  it("is closed to a member who is not active, by every route but those that end this", async () => {
    const id = await ann.make({ name: "Quiet", type: "group", user_ids: [ben.user.id] });
    const message = await ann.post(id, "Hello");
    const { bodies, queries = {} } = ownedRows["channels"]!;
    const closed = routesOf(app)
      .filter(({ plugin, route }) => plugin === "channels" && route.path.startsWith("/channels/:id"))
      .map(({ route }) => `${route.method} ${route.path}`)
      .filter((name) => !/members.(active|remove)$/.test(name));
    const statuses = async () => {
      const found: Record<string, number> = {};
      for (const name of closed) {
        const path = name.replace(":id", id).replace(":message_id", message.id).replace("/channels", "");
        const query = queries[name] ? `?${queries[name]}` : "";
        found[name] = (await ben.call(path + query, bodies[name])).status;
      }
      return found;
    };
    await ben.call(`POST /${id}/members/active`, { is_active: false });
    const all = (status: number) => Object.fromEntries(closed.map((name) => [name, status]));
    expect(closed.length).toBeGreaterThan(11);
    expect(await statuses()).toEqual(all(404));
    expect((await ben.call(`POST /${id}/members/active`, { is_active: true })).body).toBe(true);
    expect((await ben.call(`GET /${id}/messages`)).body).toHaveLength(1);
    await ben.call(`POST /${id}/members/active`, { is_active: false });
    expect((await ben.call(`POST /${id}/update/members/remove`, { user_ids: [ben.user.id] })).body).toEqual([
      ben.user.id,
    ]);
  });

  it("that is direct opens again for the person who hid it, by a message or by looking for the person", async () => {
    const { id } = (await ann.call(`GET /users/${ben.user.id}`)).body;
    await ben.call(`POST /${id}/members/active`, { is_active: false });
    expect((await ben.call(`GET /${id}`)).status).toBe(404);
    expect((await ben.call(`GET /users/${ann.user.id}`)).body.id).toBe(id);
    expect((await ben.call(`GET /${id}/messages`)).status).toBe(200);
  });
});
