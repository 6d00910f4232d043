/** Where values go that are pushed instead of pulled. */
export interface Sink<T> {
  /** Takes one value. False asks for a pause, which `resume` of the flow ends. */
  next(value: T): boolean;
  /** Called once, after the last value. */
  end(): void;
  /** Called once, in place of `end`. */
  failed(error: unknown): void;
}

/** What a sink may ask of its source. */
export interface PushFlow {
  resume(): void;
  /** Gives the rest up; the sink hears nothing more. */
  abort(): void;
}

/** A stream that can be pulled like any other, or pushed: without a promise for every value and stage. */
export interface Pushable<T> extends AsyncIterableIterator<T> {
  /** Sends everything to `sink`, from the next turn on; nobody may pull any more. */
  pushTo(sink: Sink<T>): PushFlow;
}

/** Whether a stream can be pushed. */
export function isPushable<T>(stream: AsyncIterable<T>): stream is Pushable<T> {
  return "pushTo" in stream;
}
