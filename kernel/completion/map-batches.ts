/** One stage of a stream. */
export interface Stage<In, Out> {
  /** Makes what goes on of one value; undefined when nothing does. A throw ends the stream. */
  next(value: In): Out | undefined;
  /** What goes out last, after the source has ended. */
  end?(): Out | undefined;
  /** Called once: with the error when the source or the stage failed, without one when it ended or was left early. */
  close?(error?: unknown): void;
}

/**
 * Sends a source through one stage, on demand. It does what an async generator around `for await` would do, at a
 * third of its price, which a token pays for every stage.
 */
export function mapBatches<In, Out>(
  source: AsyncIterable<In>,
  stage: Stage<In, Out>,
): AsyncIterableIterator<Out> {
  return new Mapped(source[Symbol.asyncIterator](), stage);
}

class Mapped<In, Out> implements AsyncIterableIterator<Out> {
  readonly #source: AsyncIterator<In>;
  readonly #stage: Stage<In, Out>;
  #isClosed = false;

  constructor(source: AsyncIterator<In>, stage: Stage<In, Out>) {
    this.#source = source;
    this.#stage = stage;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Out, undefined>> {
    return this.#isClosed
      ? Promise.resolve({ done: true, value: undefined })
      : this.#source.next().then(this.#take, this.#fail);
  }

  async return(): Promise<IteratorResult<Out, undefined>> {
    this.#close();
    await this.#source.return?.();
    return { done: true, value: undefined };
  }

  #take = (
    result: IteratorResult<In, unknown>,
  ): IteratorResult<Out, undefined> | Promise<IteratorResult<Out, undefined>> => {
    try {
      const value = result.done === true ? this.#stage.end?.() : this.#stage.next(result.value);
      if (result.done === true) {
        this.#close();
      }
      if (value !== undefined) {
        return { done: false, value };
      }
      return result.done === true ? { done: true, value: undefined } : this.next();
    } catch (error) {
      return this.#abandon(error);
    }
  };

  #fail = (error: unknown): never => {
    this.#close(error);
    throw error;
  };

  /** The stage failed: the source must not stay open. */
  async #abandon(error: unknown): Promise<never> {
    this.#close(error);
    await this.#source.return?.();
    throw error;
  }

  #close(error?: unknown): void {
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.#stage.close?.(error);
    }
  }
}
