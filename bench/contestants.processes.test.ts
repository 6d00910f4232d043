import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, expect, it } from "vitest";
import { call } from "./call.ts";
import { shareInWorker } from "../test/support/leaks/leaks.ts";
import { millrace } from "./contestants.ts";

const closing: (() => Promise<unknown>)[] = [];
afterAll(() => Promise.all(closing.map((close) => close())));

const hasTaskset = spawnSync("taskset", ["--version"]).status === 0;

it.skipIf(!hasTaskset)(
  "asks the upstream of each scenario, not the one that was there first",
  async () => {
    for (const answer of ["first", "second"]) {
      const port = await openUpstream(answer);
      // The bench keeps prepared folders for its next start, and removes them when it ends.
      const running = await shareInWorker(() => millrace().start(port));
      const request = { model: "mock", messages: [{ role: "user", content: "Hi" }] };
      const completion = await call(running, "POST /api/chat/completions", request).finally(running.stop);
      expect(completion).toMatchObject({ choices: [{ message: { content: answer } }] });
    }
  },
  600_000,
);

async function openUpstream(content: string): Promise<number> {
  const server = createServer((request, response) => {
    const message = { role: "assistant", content };
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify(
        request.method === "GET"
          ? { object: "list", data: [{ id: "mock", object: "model" }] }
          : { object: "chat.completion", choices: [{ index: 0, message, finish_reason: "stop" }] },
      ),
    );
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(async () => {
    server.closeAllConnections();
    await once(server.close(), "close");
  });
  return (server.address() as AddressInfo).port;
}
