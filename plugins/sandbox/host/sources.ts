import type { Batches, Json } from "#kernel/sandbox.ts";

/** The streams that host functions answered one call with; the code reads them a batch at a time (inside/host.js). */
export class Sources {
  readonly #open = new Map<number, AsyncIterator<readonly Json[]>>();
  #isClosed = false;

  add(at: number, batches: Batches): void {
    const source = batches[Symbol.asyncIterator]();
    if (this.#isClosed) {
      leave(source);
    } else {
      this.#open.set(at, source);
    }
  }

  /** The next batch, undefined at the end. Rejects with what broke the stream. */
  async next(at: number): Promise<readonly Json[] | undefined> {
    const source = this.#open.get(at);
    const step = await source?.next().catch((error: unknown) => {
      this.#open.delete(at);
      throw error;
    });
    if (step === undefined || step.done) {
      this.#open.delete(at);
      return undefined;
    }
    return step.value;
  }

  end(at: number): void {
    const source = this.#open.get(at);
    this.#open.delete(at);
    leave(source);
  }

  close(): void {
    this.#isClosed = true;
    this.#open.forEach(leave);
    this.#open.clear();
  }
}

export function isBatches(value: unknown): value is Batches {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

/** Closes a stream that is not read any more; how that ends does not matter. */
function leave(source: AsyncIterator<readonly Json[]> | undefined): void {
  source?.return?.().catch(() => undefined);
}
