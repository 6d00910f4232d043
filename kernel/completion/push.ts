/** Where the values of a pushed stream go. */
export interface Sink<T> {
  /** Takes one value. False asks for a pause, which `resume` of the flow ends. */
  next(value: T): boolean;
  /** Called once, after the last value. */
  end(): void;
  /** Called once, in place of `end`. */
  failed(error: unknown): void;
}

/** Controls a pushed stream from the side of its sink. */
export interface PushFlow {
  resume(): void;
  /** Gives the rest up; the sink hears nothing more. The promise, where there is one, resolves when the source is closed. */
  abort(): void | Promise<void>;
}

/** A stream that pushes its values, without a promise for every value and stage; it can be pulled like any other, too. */
export interface Pushable<T> extends AsyncIterableIterator<T> {
  /** Sends everything to `sink`, from the next turn on; nobody may pull any more. */
  pushTo(sink: Sink<T>): PushFlow;
}

/** The same stream, pushed: one that can only be pulled is asked for a value whenever its sink takes more. */
export function toPushable<T>(stream: AsyncIterable<T>): Pushable<T> {
  return "pushTo" in stream ? (stream as Pushable<T>) : new PushedIterable(stream);
}

/** Base of pushed streams: pulls by asking for a pause after each value. */
export abstract class PushStream<T> implements Pushable<T> {
  #puller: Puller<T> | undefined;

  abstract pushTo(sink: Sink<T>): PushFlow;

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result<T>> {
    return (this.#puller ??= new Puller(this)).next();
  }

  return(): Promise<Result<T>> {
    return (this.#puller ??= new Puller(this)).return();
  }
}

class PushedIterable<T> extends PushStream<T> {
  readonly #source: AsyncIterable<T>;

  constructor(source: AsyncIterable<T>) {
    super();
    this.#source = source;
  }

  pushTo(sink: Sink<T>): PushFlow {
    const iterator = this.#source[Symbol.asyncIterator]();
    let isAsking = false;
    let isHeld = false;
    let isOver = false;
    const fail = (error: unknown) => {
      if (!isOver) {
        isOver = true;
        sink.failed(error);
      }
    };
    const close = async () => {
      isOver = true;
      await Promise.resolve(iterator.return?.()).catch(() => undefined);
    };
    const receive = (result: IteratorResult<T, unknown>) => {
      isAsking = false;
      if (isOver) {
        return;
      }
      if (result.done === true) {
        isOver = true;
        sink.end();
        return;
      }
      isHeld = !sink.next(result.value);
      ask();
    };
    // Also a source that is given up at once is asked once: one that never began would close nothing.
    const ask = () => {
      if (!isAsking && !isHeld && !isOver) {
        isAsking = true;
        iterator
          .next()
          .then(receive)
          .catch((error: unknown) => {
            fail(error);
            void close();
          });
      }
    };
    ask();
    return {
      resume() {
        isHeld = false;
        ask();
      },
      abort: close,
    };
  }
}

type Result<T> = IteratorResult<T, undefined>;

/** The pulling side of a pushed stream: holds it after each value until the next one is asked for. */
class Puller<T> {
  readonly #flow: PushFlow;
  /** Values that came unasked, such as the last one of a stage. */
  readonly #early: T[] = [];
  #waiting: PromiseWithResolvers<Result<T>> | undefined;
  #isHeld = false;
  #isOver = false;
  #failure: { readonly error: unknown } | undefined;

  constructor(source: Pushable<T>) {
    this.#flow = source.pushTo({
      next: (value) => this.#take(value),
      end: () => this.#finish(),
      failed: (error) => {
        this.#failure = { error };
        this.#finish();
      },
    });
  }

  next(): Promise<Result<T>> {
    const waiting = Promise.withResolvers<Result<T>>();
    if (this.#early.length > 0) {
      waiting.resolve({ done: false, value: this.#early.shift() as T });
      return waiting.promise;
    }
    this.#waiting = waiting;
    if (this.#isOver) {
      this.#finish();
    } else if (this.#isHeld) {
      this.#isHeld = false;
      this.#flow.resume();
    }
    return waiting.promise;
  }

  async return(): Promise<Result<T>> {
    this.#early.length = 0;
    this.#failure = undefined;
    this.#finish();
    await this.#flow.abort();
    return { done: true, value: undefined };
  }

  #take(value: T): boolean {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#isHeld = true;
    if (waiting) {
      waiting.resolve({ done: false, value });
    } else {
      this.#early.push(value);
    }
    return false;
  }

  /** Tells the end to the one who waits, or keeps it for the next one who asks; a failure is told once. */
  #finish(): void {
    this.#isOver = true;
    const [waiting, failure] = [this.#waiting, this.#failure];
    if (waiting) {
      this.#waiting = this.#failure = undefined;
      if (failure) {
        waiting.reject(failure.error);
      } else {
        waiting.resolve({ done: true, value: undefined });
      }
    }
  }
}
