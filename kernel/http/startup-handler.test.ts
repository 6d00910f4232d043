import { afterEach, beforeEach, expect, test } from "vitest";
import type { Sockets } from "#kernel/sockets/server.ts";
import { createStartupHandler, type StartupHandler } from "./startup-handler.ts";
import { type Listening, openListener } from "./listen.ts";

let startup: StartupHandler;
let listening: Listening;

beforeEach(async () => {
  startup = createStartupHandler();
  const { handler, sockets } = startup;
  listening = await openListener(handler, { host: "127.0.0.1", port: 0, sockets });
});
afterEach(() => listening.close());

const noSockets: Sockets = {
  isOurs: () => false,
  upgrade: async () => {},
  close() {},
  terminate() {},
};

test.each([
  ["/ready", { detail: "The server is starting. Try again in a moment." }],
  ["/api/v1/auths/", { detail: "The server is starting. Try again in a moment." }],
  ["/compat/models", { error: { message: "The server is starting. Try again in a moment." } }],
  ["/openai/models", { error: { message: "The server is starting. Try again in a moment." } }],
])("a server that starts answers 503 at %s, in the shape of its errors there", async (path, body) => {
  const answer = await fetch(listening.url + path);
  expect([answer.status, answer.headers.get("retry-after"), answer.headers.get("cache-control")]).toEqual([
    503,
    "2",
    "no-store",
  ]);
  expect(await answer.json()).toMatchObject(body);
});

test("a browser gets a page that reloads itself until the server is open", async () => {
  const answer = await fetch(`${listening.url}/c/42`, { headers: { accept: "text/html,*/*;q=0.8" } });
  expect([answer.status, answer.headers.get("retry-after"), answer.headers.get("content-type")]).toEqual([
    503,
    "2",
    "text/html; charset=utf-8",
  ]);
  expect(await answer.text()).toContain('<meta http-equiv="refresh" content="2">');
});

test("a request with a body and one for a WebSocket get the same, and the next is served", async () => {
  const posted = await fetch(`${listening.url}/api/chat/completions`, { method: "POST", body: "{}" });
  expect(posted.status).toBe(503);
  const socket = new WebSocket(`${listening.url.replace("http", "ws")}/ws`);
  await new Promise((resolve) => socket.addEventListener("error", resolve));
  startup.open((_req, res) => res.end("open"), noSockets);
  expect(await (await fetch(`${listening.url}/ready`)).text()).toBe("open");
});

test("a port in use is told in words, for every listener alike", async () => {
  const again = openListener(startup.handler, { host: "127.0.0.1", port: listening.port });
  await expect(again).rejects.toThrow(`port ${listening.port} on 127.0.0.1 is used by another process.`);
});
