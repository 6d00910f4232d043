import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ChunkBatch } from "#kernel/completion/provider.ts";
import type { Pushable, PushFlow, Sink } from "#kernel/completion/push.ts";
import { textChunks } from "#test/support/upstream-chunks.ts";
import { CallLabels, createLongLabels } from "../call-labels.ts";
import { MessageEvents } from "./from-chunks.ts";
import { toEventStream } from "./event-stream.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A source that pushes when a test says so, into a sink that remembers what it got. */
function open(counting?: Promise<number | undefined>) {
  const upstream = { resume: vi.fn(), abort: vi.fn() };
  const events = { into: undefined as Sink<ChunkBatch> | undefined };
  const batches = {
    pushTo(sink: Sink<ChunkBatch>): PushFlow {
      events.into = sink;
      return upstream;
    },
    [Symbol.asyncIterator]: () => batches,
    next: () => expect.unreachable("nobody pulls"),
  } as unknown as Pushable<ChunkBatch>;
  const got: string[] = [];
  const taken = { isFull: false };
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
  const flow = stream.pushTo({
    next(frames) {
      got.push(...(frames.match(/^(?:event|broken): .*$/gm) ?? []));
      return !taken.isFull;
    },
    end: () => void got.push("end"),
    failed: (error) => expect.unreachable(String(error)),
  });
  const give = (batch: ChunkBatch) => events.into?.next(batch);
  const finish = () => events.into?.end();
  const fail = (error: Error) => events.into?.failed(error);
  return { got, flow, upstream, taken, give, finish, fail, stream };
}

const text = [
  "event: content_block_start",
  "event: content_block_delta",
  "event: content_block_stop",
  "event: message_delta",
  "event: message_stop",
];

it("begins at once where nobody counts, and ends with the source", async () => {
  const { got, give, finish } = open();
  await vi.advanceTimersByTimeAsync(0);
  expect(got).toEqual(["event: message_start"]);
  expect(give(textChunks("Hi you"))).toBe(true);
  finish();
  expect(got).toEqual(["event: message_start", ...text, "end"]);
});

it("ends with an error when what came early cannot be read", async () => {
  const { got, give, upstream } = open();
  give([{ choices: [{ index: 0, delta: { tool_calls: {} as [] } }] }]);
  await vi.advanceTimersByTimeAsync(0);
  expect(got).toEqual(["event: message_start", expect.stringContaining("broken: TypeError"), "end"]);
  expect(upstream.abort).toHaveBeenCalledOnce();
});

it("says after every 15 seconds of silence that it goes on", async () => {
  const { got, give } = open();
  await vi.advanceTimersByTimeAsync(14_000);
  give(textChunks("Hi").slice(0, 2));
  await vi.advanceTimersByTimeAsync(14_000);
  expect(got.filter((frame) => frame === "event: ping")).toEqual([]);
  await vi.advanceTimersByTimeAsync(17_000);
  expect(got.filter((frame) => frame === "event: ping")).toHaveLength(2);
});

it("pings nobody who cannot take more", async () => {
  const { got, give, taken, flow, upstream } = open();
  await vi.advanceTimersByTimeAsync(0);
  upstream.resume.mockClear();
  taken.isFull = true;
  expect(give(textChunks("Hi").slice(0, 2))).toBe(false);
  await vi.advanceTimersByTimeAsync(40_000);
  expect(got).not.toContain("event: ping");
  expect(upstream.resume).not.toHaveBeenCalled();
  flow.resume();
  expect(upstream.resume).toHaveBeenCalledOnce();
});

describe("the count of the prompt", () => {
  it("is waited for while there is nothing else to say", async () => {
    const counting = Promise.withResolvers<number>();
    const { got } = open(counting.promise);
    await vi.advanceTimersByTimeAsync(2000);
    expect(got).toEqual([]);
    counting.resolve(42);
    await vi.advanceTimersByTimeAsync(0);
    expect(got).toEqual(["event: message_start"]);
  });

  it("keeps a first chunk no longer than 50 milliseconds", async () => {
    const { got, give, upstream } = open(new Promise(() => {}));
    expect(give(textChunks("Hi").slice(0, 2))).toBe(false);
    await vi.advanceTimersByTimeAsync(49);
    expect(got).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(got).toEqual(["event: message_start", ...text.slice(0, 2)]);
    expect(upstream.resume).toHaveBeenCalledOnce();
  });

  it("keeps a whole reply no longer either", async () => {
    const { got, give, finish } = open(new Promise(() => {}));
    give(textChunks("Hi"));
    finish();
    await vi.advanceTimersByTimeAsync(50);
    expect(got).toEqual(["event: message_start", ...text, "end"]);
  });
});

it("ends with what broke it", async () => {
  const { got, fail } = open();
  await vi.advanceTimersByTimeAsync(0);
  fail(new Error("reset"));
  expect(got).toEqual(["event: message_start", "broken: Error: reset", "end"]);
});

it("lets go of the upstream when its reader leaves, and is silent then", async () => {
  const { got, flow, upstream } = open();
  await vi.advanceTimersByTimeAsync(0);
  void flow.abort();
  expect(upstream.abort).toHaveBeenCalledOnce();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(got).toEqual(["event: message_start"]);
});
