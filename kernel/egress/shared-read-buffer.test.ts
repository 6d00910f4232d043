import { execFileSync, spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer as createHttpServer, type RequestListener, type Server } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { openEgress } from "#test/support/egress.ts";
import { type Flow, consumeBody } from "./direct-body.ts";
import type { Egress } from "./egress.ts";
import { SegmentedBody } from "./segmented-body.ts";

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;

let close: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of close.toReversed()) {
    await end();
  }
  close = [];
});

function toServer(scheme: "http" | "https", listener: RequestListener): Server {
  if (scheme === "http") {
    return createHttpServer(listener);
  }
  const folder = mkdtempSync(join(tmpdir(), "egress-reads-"));
  const files = ["-keyout", join(folder, "key.pem"), "-out", join(folder, "cert.pem")];
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  execFileSync("openssl", ["req", "-x509", ...kind, "-subj", "/CN=localhost", ...files], { stdio: "ignore" });
  const [key, cert] = ["key.pem", "cert.pem"].map((name) => readFileSync(join(folder, name)));
  rmSync(folder, { recursive: true });
  return createHttpsServer({ key, cert }, listener);
}

async function open(
  scheme: "http" | "https",
  listener: RequestListener,
): Promise<{ url: string; egress: Egress; server: Server }> {
  const server = toServer(scheme, listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const egress = openEgress({ ssl: () => false });
  close.push(
    async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
    () => egress.close(),
  );
  return { url: `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/`, egress, server };
}

/** Asks and keeps every piece as it was handed over. */
async function ask(egress: Egress, url: string) {
  const { body } = await egress.request(url, { trust: "operator" });
  const pieces: Buffer[] = [];
  const first = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const flow: Flow = consumeBody(body, {
    data(piece) {
      pieces.push(piece);
      first.resolve();
    },
    end: over.resolve,
    failed: over.reject,
  });
  return { flow, pieces, first: first.promise, over: over.promise };
}

const hashOf = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

describe.each(["http", "https"] as const)("reading an upstream over %s", (scheme) => {
  const test = it.skipIf(scheme === "https" && !hasOpenssl);

  test("keeps every piece as it came, whoever reads meanwhile", async () => {
    const words = Array.from({ length: 200 }, (_, at) => `piece ${at};`);
    const { egress, url } = await open(scheme, async (_request, response) => {
      for (const word of words) {
        response.write(word);
        await delay(1);
      }
      response.end();
    });
    const asked = await Promise.all(Array.from({ length: 5 }, () => ask(egress, url)));
    for (const { over, pieces } of asked) {
      await over;
      expect(Buffer.concat(pieces).toString()).toBe(words.join(""));
      expect(pieces.length).toBeGreaterThan(20);
    }
  });

  test("stops a fast upstream while nobody takes its answer, and loses nothing of it", async () => {
    const block = randomBytes(1024 * 1024);
    const blocks = 40;
    let written = 0;
    const { egress, url } = await open(scheme, async (_request, response) => {
      for (let n = 0; n < blocks; n++) {
        if (!response.write(block)) {
          await once(response, "drain");
        }
        written += 1;
      }
      response.end();
    });
    const { flow, first, over, pieces } = await ask(egress, url);
    await first;
    flow.pause();
    let before = -1;
    await expect
      .poll(
        () => {
          const isStill = before === written;
          before = written;
          return isStill;
        },
        { interval: 100, timeout: 10_000 },
      )
      .toBe(true);
    // What the operating system holds for both ends, and no more.
    expect(written).toBeLessThan(blocks / 2);
    flow.resume();
    await over;
    const sent = Buffer.concat(Array.from({ length: blocks }, () => block));
    expect(hashOf(Buffer.concat(pieces))).toBe(hashOf(sent));
  });

  test("has all of an answer whose upstream closed while nobody took it", async () => {
    const sent = randomBytes(300_000);
    const { egress, url, server } = await open(scheme, (_request, response) => {
      response.setHeader("content-length", sent.length);
      response.end(sent);
    });
    const { flow, first, over, pieces } = await ask(egress, url);
    await first;
    flow.pause();
    await delay(50);
    server.closeIdleConnections();
    await delay(50);
    flow.resume();
    await over;
    expect(hashOf(Buffer.concat(pieces))).toBe(hashOf(sent));
  });
});

it("sends a body in pieces with its length, and as often as it has to", async () => {
  const seen: { length: string | undefined; sha: string }[] = [];
  const { url, egress } = await open("http", async (request, response) => {
    const sha = createHash("sha256");
    for await (const piece of request) {
      sha.update(piece as Buffer);
    }
    seen.push({ length: request.headers["content-length"], sha: sha.digest("hex") });
    response.end("ok");
  });
  const pieces = Array.from({ length: 400 }, (_, n) => randomBytes(n * 30));
  const body = new SegmentedBody(pieces);
  const whole = Buffer.concat(pieces);
  for (let n = 0; n < 2; n++) {
    const answer = await egress.request(url, { trust: "operator", method: "POST", body });
    answer.body.resume();
    await once(answer.body, "end");
  }
  const expected = { length: String(whole.length), sha: createHash("sha256").update(whole).digest("hex") };
  expect(seen).toEqual([expected, expected]);
});
