import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestDataDir } from "#storage/testing.ts";
import { percentile, report, times } from "#test/support/faults.ts";
import { firstAdmin, openStream, type OpenStream } from "#test/support/client.ts";
import { preparePlatformDataDir } from "#test/support/platform-database.ts";
import { type ServerProcess, startProcess } from "#test/support/process.ts";
import { chunk, textChunks } from "#test/support/upstream-chunks.ts";
import type { Script } from "#test/support/upstream-exchange.ts";
import {
  closeAfter,
  endlessLine,
  gzipBomb,
  html,
  resetAfter,
  silence,
  stallAfter,
} from "#test/support/upstream-faults.ts";
import {
  failure,
  oversizedChunk,
  rateLimited,
  raw,
  sse,
  text,
  tokens,
} from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";

const idleSeconds = 2;

let upstream: Upstream;
let server: ServerProcess;
let place: TestDataDir;
let token: string;

beforeAll(async () => {
  place = await preparePlatformDataDir();
  upstream = await startUpstream();
  upstream.models = ["alpha"];
  upstream.always(({ body }) => body?.seed === 1, tokens(3, 1));
  server = await startProcess({
    ...place.env,
    OPENAI_API_BASE_URLS: upstream.url,
    AIOHTTP_CLIENT_STREAM_IDLE_TIMEOUT: String(idleSeconds),
    GLOBAL_LOG_LEVEL: "CRITICAL",
  });
  token = await firstAdmin(server.url);
});

afterAll(async () => {
  await server?.kill();
  await upstream?.close();
  await place?.remove();
});

const ask = (seed: number) =>
  openStream(server.url, token, { model: "alpha", seed, messages: [{ role: "user", content: "Hi" }] });
const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
const frame = (content: string) => `data: ${JSON.stringify(chunk({ content }))}\n\n`;

interface Expected {
  status?: number;
  contains?: string;
  /** The last frame is a typed error. */
  error?: boolean;
}

const faults: [string, Script, Expected][] = [
  ["silence before the head", silence(), { status: 504 }],
  ["a stall in the middle", stallAfter(600, tokens(50, 1)), { contains: "t0 ", error: true }],
  ["a reset in the middle", resetAfter(600, tokens(50, 1)), { contains: "t0 ", error: true }],
  ["a close in the middle", closeAfter(600, tokens(50, 1)), { contains: "t0 ", error: true }],
  ["HTML with status 200", html(), { status: 502 }],
  ["no [DONE]", sse(textChunks("whole"), { done: false }), { contains: "whole" }],
  [
    "broken JSON in a frame",
    raw(head, frame("before"), 'data: {"choices": [{\n\n', frame("after"), "data: [DONE]\n\n"),
    { contains: "after" },
  ],
  [
    "a line of 10 MB",
    sse([oversizedChunk(10 * 1024 * 1024), chunk({ content: "after" })]),
    { contains: "after" },
  ],
  ["a line without end", endlessLine(12 * 1024 * 1024), {}],
  ["characters cut in two", text("Grüße 世界 🌍", { split: "characters" }), { contains: "世界" }],
  ["one byte a write", text("slow and steady", { split: "bytes" }), { contains: "steady" }],
  ["a compressed bomb", gzipBomb(200 * 1024 * 1024, "text/event-stream"), {}],
  [
    "an index that is wrong",
    sse([{ choices: [{ index: 7, delta: { content: "odd" } }] }]),
    { contains: "odd" },
  ],
  ["429 with retry headers", rateLimited({ seconds: 3 }), { status: 429 }],
  ["500", failure(500, "broken inside"), { status: 500, contains: "broken inside" }],
];

/** Promise R12: a bad upstream is contained. */
describe("a bad upstream", () => {
  it.each(faults)("%s ends in time with what came before it", async (name, script, expected) => {
    upstream.reply(({ body }) => body?.seed === 2, script);
    const started = performance.now();
    const stream = await ask(2);
    const received = await stream.rest();
    const ms = performance.now() - started;
    report("R12", name, { status: stream.status, "ended ms": ms });
    expect(stream.status).toBe(expected.status ?? 200);
    expect(received).toContain(expected.contains ?? "");
    if (expected.error) {
      expect(JSON.parse(received.trimEnd().split("\ndata: ").at(-1) ?? "")).toMatchObject({
        error: { message: expect.any(String), type: expect.any(String) },
      });
    }
    if (name.startsWith("429")) {
      expect([stream.headers.get("retry-after"), stream.headers.get("retry-after-ms")]).toEqual([
        "3",
        "3000",
      ]);
    }
    expect(received).not.toMatch(/node_modules|\.ts:\d/);
    expect(ms).toBeLessThan((idleSeconds + 10) * 1000);
  });

  it("leaves other runs and the memory alone", async () => {
    const others = async (count: number) => {
      const first: number[] = [];
      for (let at = 0; at < count; at++) {
        const stream = await ask(1);
        first.push(stream.firstByte);
        await stream.rest();
      }
      return first;
    };
    await others(20);
    const calm = await others(times(40, 200));
    const before = await residentMegabytes();
    const bad: Promise<OpenStream>[] = [];
    for (let round = 0; round < times(2, 10); round++) {
      for (const [, script] of faults) {
        upstream.reply(({ body }) => body?.seed === 2, script);
        bad.push(ask(2));
      }
    }
    const beside = await others(times(40, 200));
    await Promise.all(bad.map(async (stream) => (await stream).rest()));
    const after = await residentMegabytes();
    report("R12", "others beside bad upstreams", {
      "first byte p50 calm ms": percentile(calm, 50),
      "first byte p50 beside ms": percentile(beside, 50),
      "memory growth MB": after - before,
    });
    expect((await ask(1)).status).toBe(200);
    expect(after - before).toBeLessThan(150);
  });
});

async function residentMegabytes(): Promise<number> {
  const status = await readFile(`/proc/${server.child.pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}
