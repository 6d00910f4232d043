import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CallContext, MessageSupport, ProviderModel } from "#kernel/completion/provider.ts";
import type { ChunkBatch } from "#kernel/completion/provider.ts";
import { ProviderError } from "#kernel/errors.ts";
import { textChunks } from "#test/support/upstream-chunks.ts";
import { createUpFrontCounter } from "../counting/count.ts";
import { toEventStream } from "./event-stream.ts";
import { CallLabels, createLongLabels } from "../call-labels.ts";
import { MessageEvents } from "./from-chunks.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** An upstream whose batches come when a test says so. */
function open(counting?: Promise<number | undefined>) {
  const asked: PromiseWithResolvers<IteratorResult<ChunkBatch>>[] = [];
  const returned = vi.fn(async () => ({ done: true as const, value: undefined }));
  const batches: AsyncIterable<ChunkBatch> = {
    [Symbol.asyncIterator]: () => ({
      next() {
        const next = Promise.withResolvers<IteratorResult<ChunkBatch>>();
        asked.push(next);
        return next.promise;
      },
      return: returned,
    }),
  };
  const stream = toEventStream({
    batches,
    events: new MessageEvents({
      model: "m",
      stops: [],
      tags: [],
      labels: new CallLabels(createLongLabels()),
    }),
    counting,
    toErrorEvent: (error) => `broken: ${String(error)}`,
  });
  return {
    stream,
    asked,
    returned,
    give: (value: ChunkBatch) => asked.at(-1)?.resolve({ done: false, value }),
  };
}

/** The first line of a read, and its milliseconds. */
async function timed(
  reading: Promise<IteratorResult<string>>,
): Promise<[frames: string | undefined, ms: number]> {
  const started = performance.now();
  const read: { result?: IteratorResult<string> } = {};
  void reading.then((result) => Object.assign(read, { result }));
  while (read.result === undefined && performance.now() - started < 60_000) {
    await vi.advanceTimersByTimeAsync(1);
  }
  return [read.result?.value?.split("\n", 1)[0], performance.now() - started];
}

it("begins at once where nobody counts, then says every 15 seconds that it goes on", async () => {
  const { stream, asked, give } = open();
  expect(await timed(stream.next())).toEqual([
    "event: message_start",
    expect.toSatisfy((ms: number) => ms < 5),
  ]);
  for (let n = 0; n < 2; n++) {
    const [frame, ms] = await timed(stream.next());
    expect([frame, Math.round(ms / 100)]).toEqual(["event: ping", 150]);
  }
  // A ping asks the upstream nothing.
  expect(asked.length).toBe(1);
  const reading = timed(stream.next());
  await vi.advanceTimersByTimeAsync(3000);
  give(textChunks("Hi"));
  expect((await reading)[0]).toBe("event: content_block_start");
});

describe("the count of the prompt", () => {
  it("is waited for while there is nothing else to say", async () => {
    const counting = Promise.withResolvers<number>();
    const { stream } = open(counting.promise);
    const reading = stream.next();
    await vi.advanceTimersByTimeAsync(2000);
    counting.resolve(42);
    expect((await reading).value).toContain('"input_tokens":42');
  });

  it("keeps a first chunk no longer than 50 milliseconds", async () => {
    const { stream, give } = open(new Promise(() => {}));
    const reading = timed(stream.next());
    await vi.advanceTimersByTimeAsync(1000);
    give(textChunks("Hi"));
    const [frame, ms] = await reading;
    expect([frame, ms]).toEqual(["event: message_start", expect.toSatisfy((time: number) => time < 1100)]);
  });

  it("is not asked for again for ten minutes once the upstream did not know how three times", async () => {
    let now = 0;
    const counter = createUpFrontCounter(() => now);
    const refusal = { status: 404, body: "No such route", contentType: "text/plain", headers: {} };
    const countTokens = vi.fn(() => Promise.reject(new ProviderError(refusal)));
    const support: MessageSupport = { upstreamId: "m", passthroughParams: [], countTokens };
    const model = { id: "m" } as ProviderModel;
    const context = { signal: new AbortController().signal } as CallContext;
    const prompt = () => ({ messages: [{ role: "user", content: "Hi" }] });
    const begin = () => counter.begin(model, { support, prompt, context, headers: {}, query: "" });
    for (let n = 0; n < 3; n++) {
      expect(await begin()).toBeUndefined();
    }
    now = 599_000;
    expect(begin()).toBeUndefined();
    now = 601_000;
    await begin();
    expect(countTokens).toHaveBeenCalledTimes(4);
  });
});

it("ends with what broke it, and then is over", async () => {
  const { stream, asked } = open();
  await stream.next();
  asked[0]?.reject(new Error("reset"));
  expect(await stream.next()).toEqual({ done: false, value: "broken: Error: reset" });
  expect(await stream.next()).toEqual({ done: true, value: undefined });
});

it("lets go of the upstream when its reader leaves, even while it waits", async () => {
  const { stream, returned } = open();
  await stream.next();
  const waiting = stream.next();
  await stream.return?.();
  expect(await waiting).toEqual({ done: true, value: undefined });
  expect(returned).toHaveBeenCalledOnce();
});
