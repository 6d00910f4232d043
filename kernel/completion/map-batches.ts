import { type Pushable, type PushFlow, PushStream, type Sink, toPushable } from "./push.ts";

/** One stage of a stream. */
export interface Stage<In, Out> {
  /** Makes what goes on of one value; undefined when nothing does. A throw ends the stream. */
  next(value: In): Out | undefined | Promise<Out | undefined>;
  /** What goes out last, after the source has ended. */
  end?(): Out | undefined | Promise<Out | undefined>;
  /** Called once: with the error when the source or the stage failed, without one when it ended or was left early. */
  close?(error?: unknown): void;
}

/** Sends a source through one stage, without a promise for what a stage makes at once. */
export function mapBatches<In, Out>(source: AsyncIterable<In>, stage: Stage<In, Out>): Pushable<Out> {
  return new MappedStream(toPushable(source), stage);
}

class MappedStream<In, Out> extends PushStream<Out> {
  readonly #from: Pushable<In>;
  readonly #stage: Stage<In, Out>;

  constructor(source: Pushable<In>, stage: Stage<In, Out>) {
    super();
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
        void flow.abort();
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
        return flow.abort();
      },
    };
  }
}
