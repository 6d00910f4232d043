import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { appAdmin } from "#plugins/apps/apps.fixture.ts";
import { channelClient } from "#plugins/channels/channels.fixture.ts";
import { type App, startApp } from "#test/support/app.ts";

const wait = { timeout: 20_000, interval: 100 };
const port = 20_000 + (process.pid % 20_000);
const origin = `http://127.0.0.1:${port}`;

let app: App;
let program: ChildProcess | undefined;

beforeAll(async () => {
  app = await startApp({
    env: { ENABLE_CHANNELS: "true", ENABLE_APPS: "true", APP_ALLOWED_PRIVATE_ORIGINS: origin },
  });
});
afterAll(async () => {
  await stop();
  await app?.close();
});

async function stop(): Promise<void> {
  if (program !== undefined && program.exitCode === null && program.signalCode === null) {
    program.kill();
    await once(program, "exit");
  }
}

/** Starts the example as its README says; resolves when it listens. */
async function start(env: Record<string, string>): Promise<void> {
  await stop();
  program = spawn(
    process.execPath,
    [fileURLToPath(new URL("../../examples/apps/poll/poll.mjs", import.meta.url))],
    {
      env: { MILLRACE_URL: app.url, PORT: String(port), ...env },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  await once(program.stdout as NodeJS.ReadableStream, "data");
}

test("the poll app is registered by its manifest, asks, and counts", async () => {
  const admin = await app.admin();
  const person = await app.user();
  const apps = appAdmin(app, admin);
  const boss = channelClient(app, admin);
  const people = channelClient(app, person);

  await start({});
  const loaded = await apps.call("POST /manifest", { url: `${origin}/manifest.json` });
  expect(loaded.body.manifest).toMatchObject({ name: "Poll", url: `${origin}/events` });
  const { body: made } = await apps.call("POST /create", loaded.body);
  expect((await apps.call(`POST /id/${made.id}/test`)).body).toMatchObject({ success: false, status: 401 });

  await start({ APP_KEY: made.api_key, APP_SECRET: made.signing_secret });
  expect((await apps.call(`POST /id/${made.id}/test`)).body).toMatchObject({ success: true });
  expect((await fetch(`${origin}/events`, { method: "POST", body: "{}" })).status).toBe(401);

  const channel = await boss.make({ name: "lunch", type: "group", user_ids: [person.id] });
  await apps.install(channel, made.id);
  const words = async () => (await people.call(`GET /${channel}/messages`)).body;
  await expect.poll(async () => (await words())[0]?.content, wait).toMatch(/^Hello!/);

  const mention = `<@U:${made.user_id}|Poll>`;
  await people.post(channel, `${mention} Lunch? | Pizza | Soup`);
  await expect.poll(async () => (await words())[0]?.reactions.length, wait).toBe(2);
  const [poll] = await words();
  expect(poll).toMatchObject({ user: { name: "Poll", role: "app" } });
  expect(poll.content).toContain("**Lunch?**");
  for (const voter of [boss, people]) {
    const vote = await voter.call(`POST /${channel}/messages/${poll.id}/reactions/add`, { name: "2️⃣" });
    expect(vote.status).toBe(200);
  }
  await people.post(channel, `${mention} close`, { parent_id: poll.id });
  const thread = async () => (await people.call(`GET /${channel}/messages/${poll.id}/thread`)).body;
  await expect.poll(async () => (await thread())[0]?.content, wait).toBe("Result:\n- Soup: 2\n- Pizza: 0");
});
