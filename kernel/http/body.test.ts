import { createServer, request, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { AppError } from "#kernel/errors.ts";
import { type BodyLimits, readBody } from "./body.ts";

const roomy: BodyLimits = { maxBytes: 1000, idleMs: 20_000, totalMs: 20_000 };

let server: Server;
let limits: BodyLimits;
let outcome: Promise<string>;

beforeEach(async () => {
  limits = roomy;
  const settled = Promise.withResolvers<string>();
  outcome = settled.promise;
  server = createServer((req, res) => {
    readBody(req, limits)
      .then(
        (body) => body.toString(),
        (error: AppError) => error.code,
      )
      .then((text) => {
        settled.resolve(text);
        res.setHeader("connection", "close");
        res.end();
      }, settled.reject);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

function send(headers: Record<string, string | number> = {}) {
  const { port } = server.address() as AddressInfo;
  const sent = request({ port, host: "127.0.0.1", method: "POST", headers });
  // What the server refuses it may close at once.
  sent.on("error", () => {});
  return sent;
}

test("pieces come back as one", async () => {
  const sent = send();
  sent.write(Buffer.from("äb").subarray(0, 1));
  sent.write(Buffer.from("äb").subarray(1));
  sent.end("c");
  expect(await outcome).toBe("äbc");
});

test("no body is an empty one", async () => {
  send().end();
  expect(await outcome).toBe("");
});

test("a body at the limit is taken, one byte more is refused", async () => {
  limits = { ...roomy, maxBytes: 3 };
  send().end("abc");
  expect(await outcome).toBe("abc");
});

test("an announced body over the limit is refused before it arrives", async () => {
  const sent = send({ "content-length": 1001 });
  sent.flushHeaders();
  expect(await outcome).toBe("too_large");
});

test("an unannounced body over the limit is refused once it is over", async () => {
  const sent = send({ "transfer-encoding": "chunked" });
  sent.write("x".repeat(600));
  sent.write("x".repeat(600));
  expect(await outcome).toBe("too_large");
});

test("nobody waits for the rest of a body that was refused with its first piece", async () => {
  limits = { ...roomy, maxBytes: 3 };
  const waiting = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
  const before = waiting();
  const sent = send({ "transfer-encoding": "chunked" });
  sent.write("abcd");
  expect(await outcome).toBe("too_large");
  expect(waiting()).toBe(before);
});

test("a sender that breaks off is told apart", async () => {
  const sent = send({ "content-length": 10 });
  sent.write("half");
  server.once("request", () => sent.destroy());
  expect(await outcome).toBe("invalid");
});

test("a sender that pauses too long is told so", async () => {
  limits = { ...roomy, idleMs: 30 };
  const sent = send({ "content-length": 10 });
  sent.write("half");
  expect(await outcome).toBe("request_timeout");
});

test("a sender that drips for ever is told so, though it never pauses", async () => {
  limits = { ...roomy, totalMs: 100 };
  const sent = send({ "transfer-encoding": "chunked" });
  const drip = setInterval(() => sent.write("x"), 10);
  expect(await outcome).toBe("request_timeout");
  clearInterval(drip);
});
