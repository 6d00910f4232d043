import { once } from "node:events";
import { createServer, get, type IncomingMessage, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import type { RespondContext } from "./head.ts";
import { respond } from "./respond.ts";
import { LongBody } from "./long-body.ts";
import { reply } from "./route.ts";

const megabyte = 1024 * 1024;
const steps = 24;
const step = Buffer.from('{"name":"value"},'.repeat(megabyte)).subarray(0, megabyte);
const whole = Buffer.concat(Array.from({ length: steps }, () => step));

let server: Server;
let failures: unknown[] = [];

afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, "close");
  failures = [];
});

type Kind = "steps" | "stream";

async function serve(kind: Kind, source: () => AsyncIterable<Buffer>): Promise<number> {
  server = createServer((request, response) => {
    const body = kind === "steps" ? new LongBody(source()) : Readable.from(source(), { objectMode: false });
    const context: RespondContext = {
      requestId: "r",
      acceptEncoding: String(request.headers["accept-encoding"] ?? ""),
      isHead: false,
      isPrivate: false,
      compress: true,
      fastJson: true,
      head: {},
      started: performance.now(),
      failed: (error) => void failures.push(error),
    };
    void respond(response, reply(body, { headers: { "content-type": "application/json" } }), context);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

async function* all(): AsyncGenerator<Buffer> {
  for (let n = 0; n < steps; n++) {
    // As if it were read from somewhere: a reader that keeps up has taken what came before.
    await delay(2);
    yield step;
  }
}

async function ask(port: number, encoding = "gzip"): Promise<IncomingMessage> {
  const options = { port, host: "127.0.0.1", agent: false, headers: { "accept-encoding": encoding } };
  const [response] = (await once(get(options), "response")) as [IncomingMessage];
  expect(response.headers["content-encoding"]).toBe(encoding === "identity" ? undefined : encoding);
  return response;
}

describe.each(["steps", "stream"] as const)("a body of %s", (kind) => {
  it.each([
    ["br", brotliDecompressSync],
    ["zstd", zstdDecompressSync],
    ["identity", (bytes: Buffer) => bytes],
  ] as const)("is whole for who takes %s", async (encoding, unpack) => {
    const sent = await buffer(await ask(await serve(kind, all), encoding));
    expect(unpack(sent).equals(whole)).toBe(true);
  });

  it("goes as it is to who reads it as fast as it is made", async () => {
    const packed = await buffer(await ask(await serve(kind, all)));
    expect(packed.length).toBeGreaterThan(whole.length / 2);
    expect(gunzipSync(packed).equals(whole)).toBe(true);
    expect(failures).toEqual([]);
  });

  it("is compressed for who reads it slowly", async () => {
    const response = await ask(await serve(kind, all));
    const pieces: Buffer[] = [];
    for await (const piece of response) {
      pieces.push(piece as Buffer);
      await delay((piece as Buffer).length / 10_000);
    }
    const packed = Buffer.concat(pieces);
    expect(packed.length).toBeLessThan(whole.length / 2);
    expect(gunzipSync(packed).equals(whole)).toBe(true);
  });

  it("is whole for a client that knows no chunks", async () => {
    const socket = connect(await serve(kind, all), "127.0.0.1");
    socket.write("GET / HTTP/1.0\r\naccept-encoding: gzip\r\n\r\n");
    const answer = await buffer(socket);
    const body = answer.subarray(answer.indexOf("\r\n\r\n") + 4);
    expect(gunzipSync(body).equals(whole)).toBe(true);
  });

  it("is given up when its reader leaves", async () => {
    let isOver = false;
    const port = await serve(kind, async function* endless() {
      try {
        for (;;) {
          await delay(1);
          yield step;
        }
      } finally {
        isOver = true;
      }
    });
    const response = await ask(port);
    await once(response, "data");
    response.destroy();
    await expect.poll(() => isOver).toBe(true);
  });

  it("breaks off for everybody when it cannot be made to its end", async () => {
    const port = await serve(kind, async function* broken() {
      yield step;
      throw new Error("no more");
    });
    const response = await ask(port);
    await expect(buffer(response)).rejects.toThrow("aborted");
    expect(failures).toMatchObject([{ message: "no more" }]);
  });
});

it.each(["gzip", "br", "identity"])(
  "is given up when its reader left before it was begun (%s)",
  async (encoding) => {
    const body = Readable.from(all(), { objectMode: false });
    const over = Promise.withResolvers<void>();
    server = createServer((_request, response) => {
      response.once("close", () => {
        const context = { acceptEncoding: encoding, compress: true, head: {}, started: 0, failed: () => {} };
        const answer = reply(body, { headers: { "content-type": "application/json" } });
        Promise.resolve(respond(response, answer, context as unknown as RespondContext)).then(
          over.resolve,
          over.reject,
        );
      });
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const asked = get({ port: (server.address() as AddressInfo).port, host: "127.0.0.1" }).on(
      "error",
      () => {},
    );
    await once(server, "request");
    asked.destroy();
    await over.promise;
    await expect.poll(() => body.destroyed).toBe(true);
  },
);
