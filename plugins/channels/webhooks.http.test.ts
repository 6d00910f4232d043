import { afterAll, beforeAll, expect, it } from "vitest";
import type { App } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { type ChannelClient, channelClient } from "./channels.fixture.ts";

let app: App;
let ann: ChannelClient;
let ben: ChannelClient;
let eve: ChannelClient;

beforeAll(async () => {
  app = await useApp({ env: { ENABLE_CHANNELS: "true" } });
  ann = channelClient(app, await app.user());
  ben = channelClient(app, await app.user());
  eve = channelClient(app, await app.user());
});
afterAll(() => app?.close());

it("are made and listed by managers, and post with their pair alone", async () => {
  const id = await ann.make({ name: "Group", type: "group", user_ids: [ben.user.id] });
  const { body: webhook } = await ann.call(`POST /${id}/webhooks/create`, { name: "Build" });
  expect(webhook).toMatchObject({ channel_id: id, user_id: ann.user.id, last_used_at: null });
  expect(Buffer.from(webhook.token, "base64url")).toHaveLength(32);
  expect((await ben.call(`GET /${id}/webhooks`)).status).toBe(403);
  expect((await ben.call(`POST /${id}/webhooks/create`, { name: "x" })).status).toBe(403);
  expect((await eve.call(`POST /${id}/webhooks/${webhook.id}/update`, { name: "x" })).status).toBe(404);
  const post = (token: string, content = "Built") =>
    app.call(`POST /api/v1/channels/webhooks/${webhook.id}/${token}`, { body: { content } });
  const posted = await post(webhook.token);
  expect(posted.body).toEqual({ success: true, message_id: expect.any(String) });
  expect((await ben.call(`GET /${id}/messages`)).body).toMatchObject([
    {
      id: posted.body.message_id,
      user: { name: "Build", role: "webhook" },
      meta: { webhook: { id: webhook.id, name: "Build" } },
    },
  ]);
  expect((await ann.call(`GET /${id}/webhooks`)).body[0].last_used_at).toEqual(expect.any(Number));
  // Security case S49.
  const wrong = await Promise.all(Array.from({ length: 40 }, (_, at) => post(`wrong-${at}`)));
  const statuses = new Set(wrong.map(({ status }) => status));
  expect(statuses.has(404)).toBe(true);
  expect((await post("wrong")).status).toBe(429);
  expect((await ann.call(`DELETE /${id}/webhooks/${webhook.id}/delete`)).body).toBe(true);
});
