import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { toRoom } from "#kernel/sockets/rooms.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { connectPlain } from "#test/support/sockets.ts";
import { connectRaw } from "./raw-client.fixture.ts";
import { makeStage } from "./realtime.fixture.ts";

const { plugin, stage } = makeStage();
const megabyte = 1024 * 1024;
let app: App;
let member: TestUser;

beforeAll(async () => {
  app = await startApp({ plugins: [plugin] });
  member = await app.user();
});

afterAll(() => app.close());

const blob = (id: number, size: number) => ({ type: "emit", id, event: "stage:blob", data: { size } });

it("a client that does not read its answers is given no more of them, and all once it reads", async () => {
  const count = 100;
  const client = await connectRaw(app.url, member.token);
  client.send(...Array.from({ length: count }, (_, at) => blob(at, megabyte)));
  const other = await connectPlain(app.url, { token: member.token });
  await expect.poll(() => stage.blobs).toBeGreaterThan(0);
  for (let round = 0; round < 200; round++) {
    await other.emit("stage:add", { a: 1, b: 1 });
  }
  // What the kernels of both sides take in is not ours.
  expect(stage.blobs).toBeLessThan(30);
  let read = 0;
  client.socket.on("data", (bytes) => (read += bytes.length)).resume();
  await expect.poll(() => read, { timeout: 60_000 }).toBeGreaterThan(count * megabyte);
  expect(stage.blobs).toBe(count);
  client.socket.destroy();
  other.close();
});

it("a long answer over a slow link arrives while events go on", async () => {
  const size = 24 * megabyte;
  const client = await connectRaw(app.url, member.token);
  client.send(blob(1, size));
  const say = (type: string) => stage.hub.emit(toRoom("user", member.id), "events", { type });
  const talking = setInterval(() => say("more"), 10);
  let read = 0;
  let tail = "";
  // The other side's kernel takes some of it at once; the rest takes three seconds.
  while (read < size && !client.socket.closed) {
    const bytes = client.socket.read() as Buffer | null;
    read += bytes?.length ?? 0;
    await pause(bytes === null ? 5 : (bytes.length / (6 * megabyte)) * 1_000);
  }
  clearInterval(talking);
  client.socket.on("data", (bytes) => (tail += bytes.toString("latin1"))).resume();
  say("last");
  await expect.poll(() => tail.includes('"last"') || client.socket.closed).toBe(true);
  expect([read >= size, client.socket.closed]).toEqual([true, false]);
  client.socket.destroy();
});

it("what a client has sent is not done any more once it may not", async () => {
  const leaving = await app.user();
  const client = await connectPlain(app.url, { token: leaving.token });
  await client.sessionId();
  const gate = Promise.withResolvers<void>();
  stage.gate = gate.promise;
  const before = stage.blobs;
  client.send({ type: "emit", event: "stage:gate" });
  client.send(blob(1, 1));
  await leaving.call("POST /api/v1/auths/signout");
  expect(await client.closed).toMatchObject({ code: 4001 });
  gate.resolve();
  const other = await connectPlain(app.url, { token: member.token });
  await other.emit("stage:add", { a: 1, b: 1 });
  expect(stage.blobs).toBe(before);
  other.close();
});
