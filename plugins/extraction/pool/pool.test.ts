import { monitorEventLoopDelay } from "node:perf_hooks";
import { Readable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { afterAll, afterEach, expect, it } from "vitest";
import { AppError } from "#kernel/errors.ts";
import { createLogger } from "#kernel/log.ts";
import { toPdf } from "../pdf.fixture.ts";
import type { ExtractedText } from "../service.ts";
import { createReadingPool } from "./pool.ts";

const settings = { threads: 2, memory: 512, seconds: 60, cpuSeconds: 60, maxBytes: 200 * 1024 * 1024 };
let current = { ...settings };
const pool = createReadingPool({
  log: createLogger({ level: "CRITICAL", format: "json" }),
  threads: () => current.threads,
  memory: () => current.memory,
  seconds: () => current.seconds,
  cpuSeconds: () => current.cpuSeconds,
  maxBytes: () => current.maxBytes,
  limits: () => ({ pages: 100_000, members: 1000, unpackedBytes: 2 ** 30, characters: 10_000_000 }),
});
const never = new AbortController().signal;

afterEach(() => {
  current = { ...settings };
});
afterAll(() => pool.close());

function document(name: string, bytes: Uint8Array) {
  const pieces = () =>
    Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, at) =>
      bytes.subarray(at * 65_536, (at + 1) * 65_536),
    );
  return { name, type: "", open: async () => Readable.from(pieces()) };
}

const pages = (count: number) =>
  toPdf(Array.from({ length: count }, (_, at) => `Page ${at} says nothing new.\n`.repeat(50)));

it("documents are read beside each other, each with its own text", async () => {
  const names = ["one", "two", "three", "four", "five"];
  const found = await Promise.all(
    names.map((name) => pool.read(document(`${name}.txt`, Buffer.from(`words of ${name}`)), never)),
  );
  expect(found.map((each) => each?.text)).toEqual(names.map((name) => `words of ${name}`));
});

it("a reader whose signal is aborted is ended, and the next document is read", async () => {
  const controller = new AbortController();
  const reading = pool.read(document("long.pdf", pages(3000)), controller.signal);
  void setTimeout(300).then(() => controller.abort(new Error("no longer wanted")));
  await expect(reading).rejects.toThrow("no longer wanted");
  expect((await pool.read(document("a.txt", Buffer.from("still here")), never))?.text).toBe("still here");
});

it("a document that takes too long fails with the reason", async () => {
  current = { ...settings, seconds: 1 };
  await expect(pool.read(document("long.pdf", pages(3000)), never)).rejects.toMatchObject({
    code: "unprocessable",
    detail: "Reading the document took longer than 1 seconds.",
  });
});

it("a document that takes too much memory fails alone", async () => {
  // A fresh thread takes the limit, those that rest were given another.
  const small = createReadingPool({
    log: createLogger({ level: "CRITICAL", format: "json" }),
    threads: () => 1,
    memory: () => 64,
    seconds: () => 60,
    cpuSeconds: () => 60,
    maxBytes: () => 200 * 1024 * 1024,
    limits: () => ({ pages: 100_000, members: 1000, unpackedBytes: 2 ** 30, characters: 10_000_000 }),
  });
  const long = `<html><body>${"<p>a</p>".repeat(900_000)}</body></html>`;
  await expect(small.read(document("a.html", Buffer.from(long)), never)).rejects.toMatchObject({
    code: "unprocessable",
    detail: "Reading the document takes more memory than is allowed.",
  });
  expect((await small.read(document("a.txt", Buffer.from("fine")), never))?.text).toBe("fine");
  await small.close();
});

it("a document larger than is read fails without being sent as a whole", async () => {
  current = { ...settings, maxBytes: 1024 * 1024 };
  const failed = await pool
    .read(document("a.txt", Buffer.alloc(2 * 1024 * 1024, 65)), never)
    .catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(AppError);
  expect(failed).toMatchObject({ code: "too_large", detail: "Documents larger than 1 MB are not read." });
});

it("a document whose bytes break off fails with the reader's own error", async () => {
  const open = async () =>
    Readable.from(
      (async function* () {
        yield Buffer.from("begin");
        throw new Error("the disk is gone");
      })(),
    );
  await expect(pool.read({ name: "a.txt", type: "", open }, never)).rejects.toThrow("the disk is gone");
});

it("a document that takes too much of a processor fails with the reason", async () => {
  current = { ...settings, cpuSeconds: 1 };
  await expect(pool.read(document("long.pdf", pages(3000)), never)).rejects.toMatchObject({
    code: "unprocessable",
    detail: "Reading the document took more than 1 seconds of a processor.",
  });
});

it("a person whose documents all take long keeps no thread from another", async () => {
  const controller = new AbortController();
  const of = (userId: string, name: string, bytes: Uint8Array) => ({ ...document(name, bytes), userId });
  const theirs = Array.from({ length: 4 }, () =>
    pool.read(of("many", "long.pdf", pages(3000)), controller.signal).catch((error: unknown) => error),
  );
  expect((await pool.read(of("one", "a.txt", Buffer.from("still here")), never))?.text).toBe("still here");
  controller.abort(new Error("no longer wanted"));
  expect(await Promise.all(theirs)).toEqual(theirs.map(() => new Error("no longer wanted")));
});

// R18: reading a large document leaves the event loop to others.
it("the event loop goes on while a PDF of 25 MB is read", async () => {
  const bytes = toPdf(
    Array.from({ length: 500 }, (_, at) => `Page ${at} of many.\n`.repeat(40)),
    {
      padding: 26 * 1024 * 1024,
    },
  );
  expect(bytes.length).toBeGreaterThan(25 * 1024 * 1024);
  // A busy machine delays the loop by itself, which is no fault of the reading.
  const before = await delayWhile(() => setTimeout(1000));
  let found: ExtractedText | undefined;
  const during = await delayWhile(async () => {
    found = await pool.read(document("large.pdf", bytes), never);
  });
  expect(found?.places.length).toBe(500);
  expect(during).toBeLessThan(Math.max(50, 2 * before));
});

/** Delay of the event loop at the 99th percentile, in milliseconds. */
async function delayWhile(work: () => Promise<unknown>): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  await work();
  delay.disable();
  return delay.percentile(99) / 1e6;
}
