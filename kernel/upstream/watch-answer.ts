import type { Readable } from "node:stream";
import { observeBody } from "#kernel/egress/direct-body.ts";
import type { Upstream } from "#kernel/http/route.ts";
import type { Chunk, Completion, Delta, Usage } from "#kernel/completion/chunk.ts";
import { mapBatches } from "#kernel/completion/map-batches.ts";
import type { Measured, OpenCall } from "#kernel/completion/model-call.ts";
import type { ChunkBatch, ChunkStream, CompletionAnswer } from "#kernel/completion/provider.ts";
import { UsageScanner } from "./usage-scanner.ts";

/** Ends `call` when its answer is over; the answer goes on as it is. */
export function watchAnswer(answer: CompletionAnswer, call: OpenCall): CompletionAnswer {
  if (answer.kind === "whole") {
    call.complete(toMeasured(answer.completion));
    return answer;
  }
  return { kind: "stream", stream: watchStream(answer.stream, call) };
}

/** Ends `call` when the body is over. Nothing looks into its bytes before that. */
export function watchBytes(upstream: Upstream, call: OpenCall): Upstream {
  watchBody(upstream.body, call);
  return upstream;
}

function watchBody(body: Readable, call: OpenCall): void {
  const scanner = new UsageScanner(call.wire);
  observeBody(body, {
    data(piece) {
      call.arrived();
      scanner.add(piece);
    },
    over(why) {
      const { end, ...measured } = scanner.finish();
      if (why === "ended" && end === "failed") {
        call.fail(measured);
      } else if (why === "ended" || end === "done") {
        call.complete(measured);
      } else if (why === "left") {
        call.leave(measured);
      } else {
        call.break(why, measured);
      }
    },
  });
}

/** The stream is read once, as bytes or as chunks: whichever it is ends the call. */
function watchStream(stream: ChunkStream, call: OpenCall): ChunkStream {
  const { raw } = stream;
  if (raw) {
    watchBody(raw.body, call);
  }
  const watched = raw ? undefined : new WatchedChunks(call);
  return {
    raw,
    chunks(atLeast) {
      if (raw) {
        observeBody(raw.body, undefined);
      }
      return (watched ?? new WatchedChunks(call)).read(stream.chunks(atLeast));
    },
  };
}

/** The caller's leaving ends the call at once, whether or not the chunks are ever read. */
class WatchedChunks {
  readonly #call: OpenCall;
  readonly #count = new ChunkCount();

  constructor(call: OpenCall) {
    this.#call = call;
    call.signal?.addEventListener("abort", this.#left, { once: true });
  }

  read(batches: AsyncIterable<ChunkBatch>): AsyncIterableIterator<ChunkBatch> {
    let isEnded = false;
    return mapBatches(batches, {
      next: (batch: ChunkBatch) => {
        this.#call.arrived();
        for (const chunk of batch) {
          this.#count.add(chunk);
        }
        return batch;
      },
      end() {
        isEnded = true;
        return undefined;
      },
      close: (error) => this.#close(error, isEnded),
    });
  }

  #close(error: unknown, isEnded: boolean): void {
    this.#call.signal?.removeEventListener("abort", this.#left);
    if (error !== undefined) {
      this.#call.break(error, this.#count);
    } else if (isEnded || this.#count.isFinished) {
      this.#call.complete(this.#count);
    } else {
      this.#call.leave(this.#count);
    }
  }

  readonly #left = (): void => {
    if (this.#count.isFinished) {
      this.#call.complete(this.#count);
    } else {
      this.#call.break(this.#call.signal?.reason, this.#count);
    }
  };
}

/** Adds up what chunks say; nothing is kept but numbers and names of tools. */
class ChunkCount implements Measured {
  usage: Usage | undefined;
  characters = 0;
  tools: string[] = [];
  isFinished = false;

  add(chunk: Chunk): void {
    if (chunk.usage) {
      this.usage = chunk.usage;
    }
    for (const choice of chunk.choices ?? []) {
      if (choice.finish_reason) {
        this.isFinished = true;
      }
      if (choice.delta) {
        this.#addDelta(choice.delta);
      }
    }
  }

  #addDelta(delta: Delta): void {
    this.characters +=
      (delta.content?.length ?? 0) + ((delta.reasoning_content ?? delta.reasoning)?.length ?? 0);
    for (const { function: called } of delta.tool_calls ?? []) {
      this.characters += called?.arguments?.length ?? 0;
      if (called?.name) {
        this.tools.push(called.name);
      }
    }
  }
}

function toMeasured({ choices, usage }: Completion): Measured {
  const count = new ChunkCount();
  for (const { message } of choices ?? []) {
    const { tool_calls: calls, ...rest } = message ?? {};
    const tool_calls = calls?.map((call, index) => ({ ...call, index }));
    count.add({ choices: [{ index: 0, delta: { ...rest, ...(tool_calls && { tool_calls }) } }] });
  }
  return { usage: usage ?? undefined, characters: count.characters, tools: count.tools };
}
