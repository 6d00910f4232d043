import { AsyncLocalStorage } from "node:async_hooks";
import type { ElicitRequest, ElicitResult } from "@modelcontextprotocol/sdk/types.js";

/** The call that a message of a server belongs to: servers ask back on the stream that answers the call. */
export interface CallInProgress {
  /** Answers a question of the server. */
  elicit(params: ElicitRequest["params"], signal: AbortSignal): Promise<ElicitResult>;
  /** Ends the call when its stream cannot be resumed. */
  fail(error: Error): void;
}

/**
 * Known through the asynchronous context alone, as the SDK does not say on which stream a message came. A connection
 * may serve several people: a question must never reach another one than it was meant for.
 */
export const callContext = new AsyncLocalStorage<CallInProgress>();

/** The calls that run over one connection, and the people it ever served. */
export class CallsInProgress {
  readonly #calls = new Set<CallInProgress>();
  readonly #people = new Set<string>();

  async during<C extends CallInProgress, R>(
    person: string,
    call: C,
    run: (call: C) => Promise<R>,
  ): Promise<R> {
    this.#calls.add(call);
    this.#people.add(person);
    try {
      return await run(call);
    } finally {
      this.#calls.delete(call);
    }
  }

  /**
   * The call that a message on the stream of the connection itself can only belong to: the one that runs, where the
   * connection has never served a second person.
   */
  only(): CallInProgress | undefined {
    const [call] = this.#calls;
    return this.#calls.size === 1 && this.#people.size === 1 ? call : undefined;
  }
}
