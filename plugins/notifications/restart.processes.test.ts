import { afterAll, beforeAll, expect, it } from "vitest";
import type { TestDataDir } from "#storage/testing.ts";
import { callServer } from "#test/support/app.ts";
import { preparePlatformDataDir } from "#test/support/platform-database.ts";
import { type ServerProcess, startProcess } from "#test/support/process.ts";
import { type Receiver, startReceiver } from "#test/support/receiver.ts";

const wait = { timeout: 60_000, interval: 100 };
const account = { name: "Ada", email: "ada@example.org", password: "a long password" };

let receiver: Receiver;
let server: ServerProcess | undefined;
let place: TestDataDir;

beforeAll(async () => {
  receiver = await startReceiver();
  place = await preparePlatformDataDir(undefined, "server");
});
afterAll(async () => {
  await server?.kill();
  await receiver?.close();
  await place?.remove();
});

async function start(): Promise<ServerProcess> {
  server = await startProcess({
    ...place.env,
    WEBHOOK_URL: `${receiver.url}/operator`,
    EGRESS_ALLOWED_PRIVATE_ORIGINS: receiver.url,
  });
  return server;
}

async function call(token: string | undefined, route: string, body?: object) {
  const answer = await callServer(server?.url ?? "", route, { ...(token && { token }), body });
  expect(answer.status, route).toBe(200);
  return answer.body;
}

const toldOf = (event: string) =>
  receiver.received.filter(({ path, body }) => path === "/operator" && body.event === event);
const at = (path: string) => receiver.received.filter((one) => one.path === path);

it(
  "a delivery that failed goes on after a restart, under the same id, and operators hear of stop and start",
  { timeout: 360_000 },
  async () => {
    await start();
    const { token } = await call(undefined, "POST /api/v1/auths/signup", account);
    const hook = { name: "Failing", url: `${receiver.url}/failing`, events: ["folder.created"] };
    const { id } = await call(token, "POST /api/events/webhooks", hook);
    const log = () => call(token, `GET /api/events/webhooks/${id}/deliveries`);
    receiver.answer("/failing", 503);
    await call(token, "POST /api/v1/folders/", { name: "Mill" });
    await expect.poll(log, wait).toMatchObject([{ status: "pending", attempts: 1, last_status: 503 }]);
    await expect.poll(() => toldOf("system.startup.completed").length, wait).toBe(1);

    expect(await server?.stop()).toBe(0);
    expect(at("/failing")).toHaveLength(1);

    await start();
    await expect.poll(log, wait).toMatchObject([{ status: "delivered", attempts: 2, last_status: 200 }]);
    const ids = at("/failing").map(({ headers }) => headers["webhook-id"]);
    expect([ids.length, new Set(ids).size]).toEqual([2, 1]);
    await expect.poll(() => toldOf("system.startup.completed").length, wait).toBe(2);
    // A word that its own process could not send any more is sent by the next one.
    await expect.poll(() => toldOf("system.shutdown.started").length, wait).toBe(1);
    expect(toldOf("system.shutdown.started")[0]?.body.message).toBe("The server is stopping.");
    await expect
      .poll(() => toldOf("system.shutdown.completed").length, { ...wait, timeout: 150_000 })
      .toBe(1);
    const [stopped] = toldOf("system.shutdown.completed");
    expect(stopped?.body).toMatchObject({
      subject: { type: "instance" },
      message: "The server has stopped.",
    });
  },
);
