import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { calling, completions, type GatewayApp, saying, startGateway } from "../gateway.fixture.ts";

let gateway: GatewayApp;
let key: string;

beforeAll(async () => {
  gateway = await startGateway();
  key = await gateway.key();
});
afterAll(() => gateway?.close());

const ask = (model: string) =>
  gateway.gateway("POST /v1/chat/completions", key, {
    body: { model, stream: false, messages: [{ role: "user", content: "Go" }] },
  });
const step = (script: ReturnType<typeof saying>) => gateway.upstream.reply(completions, script);

it("of several requests to one workspace at the same moment one works, and the others leave nothing", async () => {
  const { id } = await gateway.workspace("narrow");
  step(calling("run_command", { command: "echo run >> log.txt; sleep 1" }));
  step(saying("Done."));
  const answers = await Promise.all(Array.from({ length: 5 }, () => ask("gw/narrow")));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409, 409]);
  for (const { status, body } of answers) {
    if (status === 409) {
      expect(body.error.message).toContain("A run is at work in this workspace already");
    }
  }
  expect(await readFile(join(gateway.root, "narrow/log.txt"), "utf8")).toBe("run\n");
  expect((await gateway.admin(`GET /api/v1/gateway/workspaces/${id}/runs`)).body).toHaveLength(1);
  expect((await gateway.admin("GET /api/v1/chats/")).body).toHaveLength(1);
});

it("runs in different workspaces work at the same time", async () => {
  await gateway.workspace("left");
  await gateway.workspace("right");
  // Each waits for the file that the other one makes.
  const wait = "for i in $(seq 100); do [ -e other ] && exit 0; sleep 0.1; done; exit 1";
  const script = (name: string) => (request: Parameters<typeof completions>[0]) =>
    completions(request) && JSON.stringify(request.body.messages).includes(`"${name}\\"`);
  for (const name of ["left", "right"]) {
    gateway.upstream.reply(script(name), calling("run_command", { command: `touch here; ${wait}` }));
    gateway.upstream.reply(script(name), saying("Met."));
  }
  const meeting = Promise.all([ask("gw/left"), ask("gw/right")]);
  const { access, writeFile } = await import("node:fs/promises");
  for (const name of ["left", "right"]) {
    await expect
      .poll(() =>
        access(join(gateway.root, name, "here")).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
  }
  await Promise.all(["left", "right"].map((name) => writeFile(join(gateway.root, name, "other"), "")));
  expect((await meeting).map(({ status }) => status)).toEqual([200, 200]);
  const results = gateway.upstream.requests
    .filter(completions)
    .map(({ body }) => body.messages.at(-1).content as string);
  expect(results.filter((text) => text.startsWith("Exit code: 0"))).toHaveLength(3);
});
