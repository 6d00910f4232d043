import { afterAll, describe, expect, it } from "vitest";
import { connectPlain } from "#test/support/sockets.ts";
import { allScopes, startAppStage } from "./apps.fixture.ts";

const stage = await startAppStage();
const { app, admin, apps, boss, people, group, helper, as } = stage;
afterAll(() => stage.close());

describe("keys of apps", () => {
  it("are good for channels that the app was added to, and no others", async () => {
    const made = await helper("keys");
    const [inside, outside] = [await group("inside"), await group("outside")];
    const open = await boss.make({
      name: "open",
      access_grants: [{ principal_type: "user", principal_id: "*", permission: "write" }],
    });
    await apps.install(inside, made.id);
    const call = as(made.api_key);
    expect((await call("GET /channels/")).body.map(({ id }: { id: string }) => id)).toEqual([inside]);
    expect((await call("GET /apps/me")).body).toMatchObject({
      id: made.id,
      user_id: made.user_id,
      scopes: allScopes,
      channels: [{ id: inside, name: "inside", type: "group" }],
    });
    expect((await call(`GET /channels/${inside}/messages`)).status).toBe(200);
    for (const id of [outside, open]) {
      expect((await call(`GET /channels/${id}`)).status).toBe(404);
      expect((await call(`POST /channels/${id}/messages/post`, { content: "x" })).status).toBe(404);
    }
    await apps.install(open, made.id);
    expect((await call(`POST /channels/${open}/messages/post`, { content: "x" })).status).toBe(200);
  });

  it("reach nothing but what their scopes name", async () => {
    const made = await helper("scopes", { scopes: ["messages:read"] });
    const channel = await group("scopes");
    await apps.install(channel, made.id);
    const call = as(made.api_key);
    const { id } = await boss.post(channel, "look");
    expect((await call(`GET /channels/${channel}/messages/${id}`)).status).toBe(200);
    const closed = [
      `POST /channels/${channel}/messages/post`,
      `POST /channels/${channel}/messages/${id}/reactions/add`,
      `GET /channels/${channel}/members`,
      `POST /channels/${channel}/update`,
      `DELETE /channels/${channel}/delete`,
      `POST /channels/create`,
      `GET /channels/users/${admin.id}`,
      `GET /channels/${channel}/webhooks`,
      `GET /channels/${channel}/messages/../../../users/`,
      `GET /users/search`,
      `GET /auths/`,
      `GET /models`,
      `GET /files/`,
      `GET /apps/`,
      `GET /notes/`,
      `POST /apps/channels/${channel}/add`,
    ];
    for (const route of closed) {
      const { status } = await call(route, route.startsWith("GET") ? undefined : { content: "x", name: "x" });
      expect([route, status]).toEqual([route, 403]);
    }
    expect((await boss.call(`POST /${channel}/messages/${id}/update`, { content: "mine" })).status).toBe(200);
  });

  it("end at once when they are replaced or revoked, and are stored nowhere", async () => {
    const made = await helper("rotate");
    expect(made.api_key).toMatch(/^sk-app-[0-9a-f]{64}$/);
    const listed = (await apps.call("GET /")).text;
    expect(listed).not.toContain(made.api_key);
    expect(listed).not.toContain(made.signing_secret);
    expect((await as(made.api_key)("GET /apps/me")).status).toBe(200);
    const { api_key: next } = (await apps.call(`POST /id/${made.id}/key`)).body;
    expect((await as(made.api_key)("GET /apps/me")).status).toBe(401);
    expect((await as(next)("GET /apps/me")).status).toBe(200);
    expect((await apps.call(`DELETE /id/${made.id}/key`)).body.key).toBeNull();
    expect((await as(next)("GET /apps/me")).status).toBe(401);
    const renewed = (await apps.call(`POST /id/${made.id}/secret`)).body.signing_secret;
    expect(renewed).toMatch(/^whsec_/);
    expect(renewed).not.toBe(made.signing_secret);
  });

  it("speak over the socket, in their channels alone, until they end", async () => {
    const made = await helper("socket");
    const [channel, foreign] = [await group("socket"), await group("foreign")];
    await apps.install(channel, made.id);
    const client = await connectPlain(app.url, { token: made.api_key });
    expect(await client.emit("user-join")).toMatchObject({ id: made.user_id, name: "Helper" });
    const { id } = await people.post(channel, "over the socket");
    await boss.post(foreign, "secret");
    const told = await client.event(
      (name, data) => name === "events:channel" && data.data.type === "message",
    );
    expect(told).toMatchObject({ channel_id: channel, message_id: id });
    const typing = { channel_id: channel, data: { type: "typing", data: { typing: true } } };
    expect(await client.emit("events:channel", typing)).toBe(true);
    expect(await client.emit("events:channel", { ...typing, channel_id: foreign })).toMatchObject({
      code: "not_found",
    });
    expect(await client.emit("usage", { model: "x" })).toMatchObject({ code: "forbidden" });
    expect(client.events.filter(({ data }) => data.channel_id === foreign)).toEqual([]);
    await apps.call(`DELETE /id/${made.id}/key`);
    await client.closed;
  });
});
