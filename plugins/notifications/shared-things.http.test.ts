import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { channelClient } from "#plugins/channels/channels.fixture.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { connectPlain } from "#test/support/sockets.ts";

const wait = { timeout: 20_000, interval: 50 };

let app: App;
let me: TestUser;
let other: TestUser;

beforeAll(async () => {
  app = await startApp({ env: { ENABLE_CHANNELS: "true" } });
  await app.admin();
  [me, other] = [await app.user(), await app.user()];
});
afterAll(() => app?.close());

const items = async ({ token }: TestUser = me) =>
  (await app.call("GET /api/v1/notifications/", { token })).body.items;

describe("the notification centre beside channels, calendars and notes", () => {
  it("has a mention read once its channel was read, in all windows", async () => {
    const [writer, reader] = [channelClient(app, other), channelClient(app, me)];
    const id = await writer.make({ name: "read", type: "group", user_ids: [me.id] });
    await writer.post(id, `Look, <@U:${me.id}|Me>!`);
    const ofChannel = async () =>
      (await items()).filter(({ path }: { path: string }) => path === `/channels/${id}`);
    await expect.poll(ofChannel, wait).toMatchObject([{ read_at: null }]);
    const socket = await connectPlain(app.url, { token: reader.user.token });
    await socket.emit("events:channel", { channel_id: id, data: { type: "last_read_at" } });
    await expect.poll(ofChannel, wait).toMatchObject([{ read_at: expect.any(Number) }]);
    socket.close();
  });

  it("tells people of invitations, of the answers to theirs, and of what is shared with them", async () => {
    const as = (user: TestUser, route: string, body: object) => user.call(route, body);
    const event = {
      title: "Grind",
      start_at: Date.parse("2040-01-01") * 1e6,
      attendees: [{ user_id: me.id }],
    };
    const made = await as(other, "POST /api/v1/calendars/events/create", event);
    expect(made.status).toBe(200);
    const grant = (permission: string) => ({ principal_type: "user", principal_id: me.id, permission });
    const note = await as(other, "POST /api/v1/notes/create", { title: "Plan" });
    const share = { access_grants: [grant("read")] };
    expect((await as(other, `POST /api/v1/notes/${note.body.id}/access/update`, share)).status).toBe(200);
    // Shared already: nobody hears of it again.
    const more = { access_grants: [grant("read"), grant("write")] };
    expect((await as(other, `POST /api/v1/notes/${note.body.id}/access/update`, more)).status).toBe(200);
    const calendar = { name: "Mill", access_grants: [grant("read")] };
    expect((await as(other, "POST /api/v1/calendars/create", calendar)).status).toBe(200);
    const told = async (user: TestUser) =>
      (await items(user)).map(({ event: name, title, body, path }: Record<string, string>) => [
        name,
        title,
        body,
        path,
      ]);
    await expect
      .poll(() => told(me), wait)
      .toEqual(
        expect.arrayContaining([
          ["calendar.event.created", "Grind", `${other.name} invites you`, "/calendar"],
          ["note.access_updated", "Plan", `${other.name} shared a note with you`, `/notes/${note.body.id}`],
          ["calendar.updated", "Mill", `${other.name} shared a calendar with you`, "/calendar"],
        ]),
      );
    const ofNote = (await told(me)).filter(([name]: string[]) => name === "note.access_updated");
    expect(ofNote).toHaveLength(1);
    const answer = await as(me, `POST /api/v1/calendars/events/${made.body.id}/rsvp`, { status: "accepted" });
    expect(answer.status).toBe(200);
    await expect
      .poll(() => told(other), wait)
      .toContainEqual(["calendar.event.rsvp_updated", "Grind", `${me.name}: accepted`, "/calendar"]);
  });
});
