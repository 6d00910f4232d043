import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import OpenAI from "openai";
import { afterAll, beforeAll, expect, it } from "vitest";
import { callServer } from "#test/support/app.ts";
import { type ChatServers, startChatServers } from "#test/support/chat-servers.ts";
import { type ServerProcess, startProcess } from "#test/support/process.ts";
import { createTestFolder, removeTestFolder } from "#test/support/test-folder.ts";
import { calling, completions, saying } from "./gateway.fixture.ts";

// Takes more than ten seconds of real time: processes start six times, which is what it is about.

const only = ["serve", "--only", "gateway"];

let root: string;
let all: ChatServers;
let alone: ServerProcess | undefined;

beforeAll(async () => {
  root = await createTestFolder({});
  all = await startChatServers({ database: "server", env: { GATEWAY_PORT: "0", GATEWAY_ROOT: root } });
});
afterAll(async () => {
  await alone?.kill();
  await all?.close();
  await removeTestFolder(root);
});

it("a process serves the gateway and nothing else, once administrators have switched it on", async () => {
  const admin = all.admin();
  const folder = (await admin.call("POST /api/v1/gateway/workspaces", { name: "Site", folder: "site" })).body;
  const { key } = (await admin.call("POST /api/v1/gateway/keys", { name: "test" })).body;
  await all.servers[0]!.stop();
  await expect(startProcess(all.env, only)).rejects.toThrow("--only gateway: It is switched off.");
  await expect(startProcess(all.env, ["serve", "--only", "kitchen"])).rejects.toThrow("--only kitchen");

  await all.start(0);
  await admin.call("POST /api/v1/gateway/config", { enabled: true });
  await all.servers[0]!.stop();
  alone = await startProcess(all.env, only);
  await writeFile(join(root, "site/hello.txt"), "Hello\n");
  all.upstream.reply(completions, calling("read_file", { path: "hello.txt" }));
  all.upstream.reply(completions, saying("It says hello."));
  const client = new OpenAI({ apiKey: key, baseURL: `${alone.url}/v1`, maxRetries: 0 });
  const models = await client.models.list();
  expect(models.data.map(({ id }) => id)).toEqual(["gw/site"]);
  const stream = await client.chat.completions.create({
    model: "gw/site",
    messages: [{ role: "user", content: "Read it" }],
    stream: true,
  });
  let text = "";
  for await (const { choices } of stream) {
    text += choices[0]?.delta.content ?? "";
  }
  expect(text).toBe("It says hello.");
  for (const route of ["GET /health", "GET /api/config", "POST /api/v1/auths/signin", "GET /"]) {
    expect([route, (await callServer(alone.url, route)).status]).toEqual([route, 404]);
  }
  expect(await alone.stop()).toBe(0);
  alone = undefined;

  await all.start(0);
  const runs = (await admin.call(`GET /api/v1/gateway/workspaces/${folder.id}/runs`)).body;
  expect(runs).toMatchObject([{ status: "done" }]);
});
