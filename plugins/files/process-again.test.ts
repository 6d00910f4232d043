import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Bench, openBench } from "./processing.fixture.ts";
import type { FileProcessor } from "./service.ts";

let bench: Bench;
let processors: FileProcessor[] = [];

beforeAll(async () => {
  bench = await openBench({
    processors: () => processors,
    observers: () => [],
    timeout: () => 60,
    stopping: new AbortController().signal,
  });
});

afterAll(() => bench.close());

async function addFile(filename: string, contentType: string, hash: string, userId = "u") {
  const id = randomUUID();
  const facts = {
    filename,
    path: `key-${id}`,
    status: "pending",
    meta: { content_type: contentType },
  } as const;
  await bench.store.insert({ id, userId, hash, ...facts });
  return id;
}

async function process(id: string) {
  await bench.workers.offer(id);
  await bench.processing.wake();
  for await (const _step of bench.progress.follow(id, AbortSignal.timeout(25_000))) {
    // Followed until it ends.
  }
}

describe("a processor with a fingerprint", () => {
  let runs = 0;
  const counting = (fingerprint: string): FileProcessor => ({
    id: "counting",
    accepts: () => true,
    fingerprint: () => fingerprint,
    process: async ({ content }) => {
      runs += 1;
      return content === undefined ? { content: `text ${runs}`, places: [{ start: 0, page: 1 }] } : {};
    },
  });

  it("is not asked again for the same bytes, until its settings change", async () => {
    runs = 0;
    processors = [counting("one")];
    await process(await addFile("a.pdf", "application/pdf", "same"));
    const again = await addFile("b.pdf", "application/pdf", "same");
    await process(again);
    expect(runs).toBe(1);
    expect(await bench.store.find(again)).toMatchObject({
      content: "text 1",
      data: { places: [{ start: 0, page: 1 }] },
    });
    await process(await addFile("c.pdf", "application/pdf", "other"));
    processors = [counting("two")];
    await process(await addFile("d.pdf", "application/pdf", "same"));
    expect(runs).toBe(3);
  });

  it("never passes on a text that was set by hand, nor the places of the one before it", async () => {
    runs = 0;
    processors = [counting("three")];
    const first = await addFile("a.pdf", "application/pdf", "private");
    await process(first);
    await bench.store.order(first, "my own notes");
    await process(first);
    expect((await bench.store.find(first))?.data).toEqual({});
    const other = await addFile("b.pdf", "application/pdf", "private");
    await process(other);
    expect(await bench.store.find(other)).toMatchObject({ content: "text 3" });
  });
});

it("files of one person do not keep those of another waiting", async () => {
  const mayEnd = Promise.withResolvers<void>();
  const begun: string[] = [];
  processors = [
    {
      id: "slow",
      accepts: () => true,
      async process({ file }) {
        begun.push(file.user_id);
        await (file.user_id === "many" ? mayEnd.promise : undefined);
        return { content: "read" };
      },
    },
  ];
  const theirs = Array.from({ length: 6 }, async () =>
    process(await addFile("a.txt", "text/plain", randomUUID(), "many")),
  );
  await expect.poll(() => begun).toEqual(["many", "many"]);
  const own = await addFile("a.txt", "text/plain", "own", "one");
  await process(own);
  expect(await bench.store.find(own)).toMatchObject({ status: "completed", content: "read" });
  expect(begun).toEqual(["many", "many", "one"]);
  mayEnd.resolve();
  await Promise.all(theirs);
  expect(begun.filter((person) => person === "many")).toHaveLength(6);
});
