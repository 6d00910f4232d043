import { isPushable, type Pushable, type PushFlow, type Sink } from "./push.ts";

/** One stage of a stream. */
export interface Stage<In, Out> {
  /** Makes what goes on of one value; undefined when nothing does. A throw ends the stream. */
  next(value: In): Out | undefined | Promise<Out | undefined>;
  /** What goes out last, after the source has ended. */
  end?(): Out | undefined | Promise<Out | undefined>;
  /** Called once: with the error when the source or the stage failed, without one when it ended or was left early. */
  close?(error?: unknown): void;
}

/**
 * Sends a source through one stage, on demand. It does what an async generator around `for await` would do, at a
 * third of its price, which a token pays for every stage. What comes of a source that can be pushed can be pushed too.
 */
export function mapBatches<In, Out>(
  source: AsyncIterable<In>,
  stage: Stage<In, Out>,
): AsyncIterableIterator<Out> {
  return isPushable(source) ? new Pushed(source, stage) : new Mapped(source[Symbol.asyncIterator](), stage);
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
      if (result.done === true) {
        const last = this.#stage.end?.();
        return last instanceof Promise ? last.then(this.#finish, this.#fail) : this.#finish(last);
      }
      const value = this.#stage.next(result.value);
      return value instanceof Promise ? value.then(this.#give, this.#leave) : this.#give(value);
    } catch (error) {
      return this.#leave(error);
    }
  };

  /** Nothing of this value goes on: the next one may. */
  #give = (
    value: Out | undefined,
  ): IteratorResult<Out, undefined> | Promise<IteratorResult<Out, undefined>> =>
    value === undefined ? this.next() : { done: false, value };

  #finish = (last: Out | undefined): IteratorResult<Out, undefined> => {
    this.#close();
    return last === undefined ? { done: true, value: undefined } : { done: false, value: last };
  };

  #fail = (error: unknown): never => {
    this.#close(error);
    throw error;
  };

  /** The stage failed: the source must not stay open. */
  #leave = async (error: unknown): Promise<never> => {
    this.#close(error);
    await this.#source.return?.();
    throw error;
  };

  #close(error?: unknown): void {
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.#stage.close?.(error);
    }
  }
}

class Pushed<In, Out> extends Mapped<In, Out> implements Pushable<Out> {
  readonly #from: Pushable<In>;
  readonly #stage: Stage<In, Out>;

  constructor(source: Pushable<In>, stage: Stage<In, Out>) {
    super(source, stage);
    this.#from = source;
    this.#stage = stage;
  }

  pushTo(sink: Sink<Out>): PushFlow {
    const stage = this.#stage;
    let isOver = false;
    const over = (error?: unknown): boolean => {
      const isFirst = !isOver;
      isOver = true;
      if (isFirst) {
        stage.close?.(error);
      }
      return isFirst;
    };
    const fail = (error: unknown) => {
      if (over(error)) {
        flow.abort();
        sink.failed(error);
      }
    };
    const finish = (last: Out | undefined) => {
      if (!isOver && last !== undefined) {
        sink.next(last);
      }
      // A sink that cannot take it has failed the stream by throwing, or given it up.
      if (over()) {
        sink.end();
      }
    };
    const give = (value: Out | undefined): boolean => isOver || value === undefined || sink.next(value);
    const giveLate = (value: Out | undefined): void => {
      try {
        if (give(value)) {
          flow.resume();
        }
      } catch (error) {
        fail(error);
      }
    };
    const flow = this.#from.pushTo({
      next(value) {
        try {
          const made = stage.next(value);
          if (!(made instanceof Promise)) {
            return give(made);
          }
          // One value at a time: the next one comes when this one is made.
          void made.then(giveLate, fail);
          return false;
        } catch (error) {
          fail(error);
          return true;
        }
      },
      end() {
        try {
          const last = stage.end?.();
          if (last instanceof Promise) {
            last.then(finish).catch(fail);
          } else {
            finish(last);
          }
        } catch (error) {
          fail(error);
        }
      },
      failed(error) {
        if (over(error)) {
          sink.failed(error);
        }
      },
    });
    return {
      resume: () => flow.resume(),
      abort() {
        over();
        flow.abort();
      },
    };
  }
}
