import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { AppError } from "#kernel/errors.ts";
import { seconds } from "#storage/clock.ts";
import { type Bench, openBench } from "./processing.fixture.ts";
import type { FileProgress } from "./progress.ts";
import type { FileObserver, FileProcessor } from "./service.ts";

let bench: Bench;
let store: Bench["store"];
let workers: Bench["workers"];
let processing: Bench["processing"];
let processors: FileProcessor[] = [];
let observers: FileObserver[] = [];
let timeout = 60;
const stopping = new AbortController();

beforeEach(() => {
  processors = [];
  observers = [];
  timeout = 60;
});

beforeAll(async () => {
  bench = await openBench({
    processors: () => processors,
    observers: () => observers,
    timeout: () => timeout,
    stopping: stopping.signal,
  });
  ({ store, workers, processing } = bench);
});

afterAll(() => bench.close());

async function addFile(filename = "a.txt", contentType = "text/plain") {
  const id = randomUUID();
  const facts = {
    filename,
    path: `key-${id}`,
    status: "pending",
    meta: { content_type: contentType },
  } as const;
  await store.insert({ id, userId: "u", hash: "h", ...facts });
  return id;
}

async function ended(id: string): Promise<FileProgress | undefined> {
  let last: FileProgress | undefined;
  for await (const step of bench.progress.follow(id, AbortSignal.timeout(25_000))) {
    last = step ?? last;
  }
  return last;
}

async function process(id: string) {
  await begin(id);
  return ended(id);
}

async function begin(id: string) {
  await workers.offer(id);
  await processing.wake();
}

function processor(run: FileProcessor["process"]): FileProcessor {
  return { id: "test", accepts: () => true, process: run };
}

describe("without a processor", () => {
  it("a text file yields its text", async () => {
    const id = await addFile();
    expect(await process(id)).toEqual({ status: "completed" });
    expect(await store.find(id)).toMatchObject({ content: `bytes of key-${id}`, error: null });
  });

  it("another file completes without content", async () => {
    const id = await addFile("a.png", "image/png");
    expect(await process(id)).toEqual({ status: "completed" });
    expect(await store.find(id)).toMatchObject({ content: null });
  });
});

describe("a processor", () => {
  it("that accepts the file decides, and what the database cannot hold is left out", async () => {
    processors = [
      { id: "other", accepts: () => false, process: () => Promise.reject(new Error("not asked")) },
      processor(async ({ file, open }) => {
        const text = (await (await open()).toArray()).join("");
        return { content: `${text} of ${file.filename}\u0000`, pages: [{ text: "\ud800" }] };
      }),
    ];
    const id = await addFile();
    expect(await process(id)).toEqual({ status: "completed" });
    expect(await store.find(id)).toMatchObject({
      content: `bytes of key-${id} of a.txt`,
      data: { pages: [{ text: "\ufffd" }] },
    });
  });

  it("that fails for a moment is asked again", async () => {
    let tries = 0;
    processors = [
      processor(async () => {
        tries += 1;
        return tries === 1 ? Promise.reject(new Error("the embedder answered 500")) : { content: "found" };
      }),
    ];
    const id = await addFile();
    expect(await process(id)).toEqual({ status: "completed" });
    expect(tries).toBe(2);
  });

  it("that always fails ends in a failure that names nothing internal", async () => {
    let tries = 0;
    processors = [
      processor(() => {
        tries += 1;
        return Promise.reject(new Error("connect ECONNREFUSED 10.0.0.7:9998"));
      }),
    ];
    const id = await addFile();
    expect(await process(id)).toEqual({ status: "failed", error: "The file could not be processed." });
    expect(tries).toBe(3);
  });

  it("that blames the file fails it at once, in its own words", async () => {
    let tries = 0;
    processors = [
      processor(() => {
        tries += 1;
        return Promise.reject(new AppError("invalid", "No text found in this PDF."));
      }),
    ];
    const id = await addFile();
    expect(await process(id)).toEqual({ status: "failed", error: "No text found in this PDF." });
    expect(tries).toBe(1);
  });

  it("that never ends and ignores its signal is left behind", async () => {
    timeout = 1;
    processors = [processor(() => new Promise(() => undefined))];
    const id = await addFile();
    expect(await process(id)).toEqual({ status: "failed", error: "Processing took longer than 1 seconds." });
  });

  it("gets the text that was set by hand, which survives a processor that finds none", async () => {
    const given: (string | undefined)[] = [];
    processors = [
      processor(async ({ content }) => {
        given.push(content);
        return { embedded: true };
      }),
    ];
    const id = await addFile();
    await process(id);
    await store.order(id, "by hand");
    await processing.wake();
    expect(await ended(id)).toEqual({ status: "completed" });
    expect(given).toEqual([undefined, "by hand"]);
    expect(await store.find(id)).toMatchObject({ content: "by hand", data: { embedded: true } });
  });

  it("has no effect once a newer order overtook it", async () => {
    const started = Promise.withResolvers<void>();
    const mayEnd = Promise.withResolvers<void>();
    processors = [
      processor(async ({ content }) => {
        if (content === undefined) {
          started.resolve();
          await mayEnd.promise;
          return { content: "extracted, too late" };
        }
        return { content };
      }),
    ];
    const id = await addFile();
    await begin(id);
    await started.promise;
    await store.order(id, "by hand");
    mayEnd.resolve();
    await processing.wake();
    expect(await ended(id)).toEqual({ status: "completed" });
    expect(await store.find(id)).toMatchObject({ content: "by hand" });
  });
});

describe("observers", () => {
  it("see the content before the file counts as completed, and again when they failed", async () => {
    const seen: unknown[] = [];
    observers = [
      {
        id: "test",
        async processed(file) {
          seen.push([file.data.status, file.data.content, (await store.progressOf(file.id))?.status]);
          if (seen.length === 1) {
            throw new Error("not now");
          }
        },
      },
    ];
    const id = await addFile();
    expect(await process(id)).toEqual({ status: "completed" });
    const expected = ["completed", `bytes of key-${id}`, "pending"];
    expect(seen).toEqual([expected, expected]);
  });
});

describe("an order whose worker is gone", () => {
  const recover = () =>
    processing.jobs.find(({ id }) => id === "files.recover")!.run({}, { signal: stopping.signal });

  /** Leaves a file as a worker does that is killed in the middle of it. */
  async function abandon(attempts: number): Promise<string> {
    const id = await addFile();
    const abandoned = { attempts, lease_until: 1 };
    await bench.database.db.updateTable("file").set(abandoned).where("id", "=", id).execute();
    return id;
  }

  it("is handed out again", async () => {
    const id = await abandon(1);
    await recover();
    expect(await ended(id)).toEqual({ status: "completed" });
  });

  it("fails when that happened too often", async () => {
    const id = await abandon(3);
    await recover();
    expect(await store.progressOf(id)).toEqual({
      status: "failed",
      error: "Processing was broken off several times.",
    });
  });

  it("is left alone while its worker lives", async () => {
    const id = await addFile();
    const order = { id, revision: 0 };
    const alive = { attempts: 1, lease_until: seconds() + 30 };
    await bench.database.db.updateTable("file").set(alive).where("id", "=", id).execute();
    expect(await workers.claim(order, 30)).toBeUndefined();
    await recover();
    expect(await workers.renew(order, 30)).toBe(true);
    expect(await store.progressOf(id)).toEqual({ status: "pending" });
  });

  it("is found even when it never reached the queue", async () => {
    const id = await addFile();
    await bench.database.db
      .updateTable("file")
      .set({ queued_at: 1, lease_until: null })
      .where("id", "=", id)
      .execute();
    await recover();
    expect(await ended(id)).toEqual({ status: "completed" });
  });
});

it("a follower of a file that is removed hears that it failed", async () => {
  processors = [processor(() => new Promise(() => undefined))];
  const id = await addFile();
  await begin(id);
  const following = ended(id);
  await store.remove([id]);
  bench.progress.announce(id);
  expect(await following).toEqual({ status: "failed", error: "The file was deleted." });
});

// Last: it ends the workers of all.
it("an order does not lose a try when the host stops", async () => {
  const started = Promise.withResolvers<void>();
  processors = [
    processor(({ signal }) => {
      started.resolve();
      return new Promise((_resolve, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason as Error)),
      );
    }),
  ];
  const id = await addFile();
  await begin(id);
  await started.promise;
  stopping.abort();
  await bench.runner.stop(50);
  await expect.poll(() => workers.claim({ id, revision: 0 }, 30)).toMatchObject({ attempts: 1 });
});
