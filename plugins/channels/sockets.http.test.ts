import { afterAll, beforeAll, expect, it } from "vitest";
import { permit, setVariables } from "#plugins/folders/folders.fixture.ts";
import { type RunStage, startRunStage } from "#plugins/runs/runs.fixture.ts";
import { connectPlain, type PlainClient } from "#test/support/sockets.ts";
import { failure, sse, text } from "#test/support/upstream-scripts.ts";
import { toolCallChunks } from "#test/support/upstream-chunks.ts";
import { type ChannelClient, channelClient } from "./channels.fixture.ts";

let stage: RunStage;
let admin: ChannelClient;
let ann: ChannelClient;
let ben: ChannelClient;
const clients: PlainClient[] = [];

beforeAll(async () => {
  stage = await startRunStage({ env: { ENABLE_CHANNELS: "true" } });
  admin = channelClient(stage.app, stage.user);
  ann = channelClient(stage.app, await stage.app.user());
  ben = channelClient(stage.app, await stage.app.user());
});
afterAll(async () => {
  clients.forEach((client) => client.close());
  await stage?.close();
});

async function connect({ user }: ChannelClient): Promise<PlainClient> {
  const client = await connectPlain(stage.app.url, { token: user.token });
  clients.push(client);
  await client.emit("user-join", {});
  return client;
}

/** The first event of a type in a channel, past or future. */
const next = (
  client: PlainClient,
  channel: string,
  type: string,
  // oxlint-disable-next-line typescript/no-explicit-any -- payloads are of every shape
  fits: (data: any) => boolean = () => true,
) =>
  client.event(
    (name, data) =>
      name === "events:channel" &&
      data.channel_id === channel &&
      data.data.type === type &&
      fits(data.data.data),
  );

it("tells members of messages, edits, reactions, typing and new channels, and nobody else", async () => {
  const [mine, theirs, foreign] = [
    await connect(ann),
    await connect(ben),
    await connect(channelClient(stage.app, await stage.app.user())),
  ];
  const id = await ann.make({ name: "Group", type: "group", user_ids: [ben.user.id] });
  await next(theirs, id, "channel:created");
  const message = await ann.post(id, "Hello");
  expect(await next(theirs, id, "message")).toMatchObject({
    message_id: message.id,
    data: { data: { content: "Hello" } },
    user: { name: ann.user.name },
    channel: { id },
  });
  await ann.call(`POST /${id}/messages/${message.id}/update`, { content: "Hello there" });
  await next(theirs, id, "message:update", ({ content }) => content === "Hello there");
  await ben.call(`POST /${id}/messages/${message.id}/reactions/add`, { name: "👍" });
  await next(mine, id, "message:reaction:add", ({ reactions }) => reactions[0].count === 1);
  await ben.post(id, "Reply", { parent_id: message.id });
  await next(mine, id, "message:reply", (data) => data.reply_count === 1);
  const typing = { channel_id: id, data: { type: "typing", data: { typing: true } } };
  expect(await theirs.emit("events:channel", typing)).toBe(true);
  await next(mine, id, "typing");
  expect(await foreign.emit("events:channel", typing)).toMatchObject({ code: "not_found" });
  expect(
    await foreign.emit("events:channel", { channel_id: id, data: { type: "last_read_at" } }),
  ).toMatchObject({ code: "not_found" });
  // Reading counts; typing by somebody who left does not.
  const unread = async () =>
    (await ben.call("GET /")).body.find((row: { id: string }) => row.id === id).unread_count;
  expect(await unread()).toBe(1);
  await theirs.emit("events:channel", { channel_id: id, data: { type: "last_read_at" } });
  expect(await unread()).toBe(0);
  await ann.call(`POST /${id}/update/members/remove`, { user_ids: [ben.user.id] });
  expect(await theirs.emit("events:channel", typing)).toMatchObject({ code: "not_found" });
  await ann.post(id, "Secret");
  await next(mine, id, "message", ({ content }) => content === "Secret");
  const heard = [...theirs.events, ...foreign.events].map(({ data }) => data?.data?.data?.content);
  expect(heard).not.toContain("Secret");
  expect(foreign.events.filter(({ event }) => event === "events:channel")).toEqual([]);
});

it("takes people out of a channel's events when a grant or a group is taken away", async () => {
  const group = await permit(stage.app, [ben.user], {});
  const id = await admin.make({
    name: "s",
    access_grants: [{ principal_type: "group", principal_id: group, permission: "read" }],
  });
  const [mine, theirs] = [await connect(admin), await connect(ben)];
  await admin.post(id, "one");
  await next(theirs, id, "message", ({ content }) => content === "one");
  await admin.user.call(`POST /api/v1/groups/id/${group}/users/remove`, { user_ids: [ben.user.id] });
  await expect
    .poll(
      async () => (await theirs.emit("events:channel", { channel_id: id, data: { type: "typing" } })).code,
    )
    .toBe("not_found");
  // The grant comes back for the person, and goes again.
  await admin.call(`POST /${id}/update`, {
    access_grants: [{ principal_type: "user", principal_id: ben.user.id, permission: "read" }],
  });
  await expect
    .poll(() => theirs.emit("events:channel", { channel_id: id, data: { type: "typing" } }))
    .toBe(true);
  await admin.call(`POST /${id}/update`, { access_grants: [] });
  await expect
    .poll(
      async () => (await theirs.emit("events:channel", { channel_id: id, data: { type: "typing" } })).code,
    )
    .toBe("not_found");
  await admin.post(id, "two");
  await next(mine, id, "message", ({ content }) => content === "two");
  expect(theirs.events.map(({ data }) => data?.data?.data?.content)).not.toContain("two");
});

it("lets a mentioned model answer in the thread, or in the channel, as its words come", async () => {
  const id = await admin.make({ name: "Models", type: "group", user_ids: [ben.user.id] });
  const [mine, theirs] = [await connect(admin), await connect(ben)];
  stage.upstream.reply(text("The mill runs on water."));
  const question = await admin.post(id, "<@M:alpha|Alpha> what drives the mill?");
  const started = await next(theirs, id, "message", ({ meta }) => meta?.done === false);
  expect(started.data.data).toMatchObject({
    parent_id: question.id,
    user: { id: "alpha", role: "model" },
    meta: { model_id: "alpha" },
  });
  const ended = await next(theirs, id, "message:update", ({ meta }) => meta?.done === true);
  expect(ended.data.data).toMatchObject({ content: "The mill runs on water.", parent_id: question.id });
  const asked = stage.upstream.requests.findLast(({ path }) => path.endsWith("/chat/completions"));
  expect(asked?.body.messages.at(-1).content).toBe(`${admin.user.name}: @Alpha what drives the mill?`);
  expect(asked?.body.tools.map((tool: { function: { name: string } }) => tool.function.name)).toEqual(
    expect.arrayContaining(["search_channel_messages", "view_channel_thread"]),
  );
  const reply = ended.data.data.id;
  expect((await ben.call(`DELETE /${id}/messages/${reply}/delete`)).status).toBe(403);
  expect((await admin.call(`POST /${id}/messages/${reply}/update`, { content: "Forged" })).status).toBe(403);

  // The model reads channels with the rights of the person, and answers in the channel when it is told to.
  await setVariables(stage.app, { CHANNEL_MODEL_RESPONSE_MODE: "channel" });
  const secret = (await ann.call(`GET /users/${ben.user.id}`)).body.id;
  const hidden = await ann.post(secret, "The mill is haunted");
  stage.upstream.reply(
    sse(
      toolCallChunks([
        { id: "c1", name: "search_channel_messages", arguments: JSON.stringify({ query: "mill" }) },
        { id: "c2", name: "view_channel_thread", arguments: JSON.stringify({ message_id: question.id }) },
        { id: "c3", name: "view_channel_message", arguments: JSON.stringify({ message_id: hidden.id }) },
        { id: "c4", name: "search_channels", arguments: JSON.stringify({ query: "mod" }) },
      ]),
    ),
  );
  stage.upstream.reply(text("Done."));
  const second = await admin.post(id, "<@M:alpha|Alpha> search");
  const done = await next(
    mine,
    id,
    "message:update",
    ({ meta, content }) => meta?.done === true && content === "Done.",
  );
  expect(done.data.data).toMatchObject({ parent_id: null, reply_to_id: second.id });
  const results = stage.upstream.requests
    .at(-1)
    ?.body.messages.filter(({ role }: { role: string }) => role === "tool")
    .map(({ content }: { content: string }) => content);
  expect(results[0]).toContain("The mill runs on water.");
  expect(results[0]).not.toContain("haunted");
  expect(JSON.parse(results[1])).toHaveLength(2);
  expect(results[2]).toContain("There is no such message");
  expect(JSON.parse(results[3])).toMatchObject([{ id, name: "models", type: "group" }]);
});

it("shows why a model could not answer, and stops one that writes", async () => {
  const id = await admin.make({ name: "Errors", type: "group" });
  const mine = await connect(admin);
  await admin.post(id, "<@M:nobody|Nobody> hello");
  const refused = await next(mine, id, "message", ({ meta }) => meta?.error !== undefined);
  expect(refused.data.data.meta).toMatchObject({
    model_id: "nobody",
    done: true,
    error: { content: "Model not found" },
  });
  stage.upstream.reply(text("word ".repeat(400), { every: 20 }));
  await admin.post(id, "<@M:beta|Beta> hello");
  const started = await next(mine, id, "message:update", ({ content }) => content.startsWith("word"));
  const at = `/${id}/messages/${started.message_id}`;
  expect((await admin.call(`POST ${at}/stop`)).body).toBe(true);
  const stopped = (await admin.call(`GET ${at}`)).body;
  expect(stopped.meta.done).toBe(true);
  expect(stopped.content.length).toBeLessThan(2000);
});

it("has a model answer again in the place of a reply that failed, for the person who asked it", async () => {
  const id = await admin.make({ name: "Again", type: "group", user_ids: [ben.user.id] });
  const mine = await connect(admin);
  stage.upstream.reply(failure(500, "The engine stalled"));
  const question = await admin.post(id, "<@M:alpha|Alpha> hello");
  const failed = await next(mine, id, "message:update", ({ meta }) => meta?.error !== undefined);
  const at = `/${id}/messages/${failed.message_id}`;
  expect((await ben.call(`POST ${at}/retry`)).status).toBe(403);
  expect((await admin.call(`POST /${id}/messages/${question.id}/retry`)).status).toBe(400);
  stage.upstream.reply(text("Here I am."));
  expect((await admin.call(`POST ${at}/retry`)).body).toBe(true);
  const ended = await next(mine, id, "message:update", ({ content }) => content === "Here I am.");
  expect(ended.data.data.id).not.toBe(failed.message_id);
  expect(ended.data.data).toMatchObject({ meta: { done: true, model_id: "alpha" } });
  expect((await admin.call(`GET ${at}`)).status).toBe(404);
});
