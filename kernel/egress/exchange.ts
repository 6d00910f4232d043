import type { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import { DirectBody } from "./direct-body.ts";
import { SegmentedBody } from "./segmented-body.ts";
import { toEgressError, toTimeLimit } from "./failure.ts";
import type { OutgoingHeaders } from "./redirect.ts";

/** The head of an upstream's answer, with its body as a stream. */
export interface UpstreamResponse {
  readonly status: number;
  /** Lower-cased names; a header that came several times is a list. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The bytes as they come, still compressed where the upstream compressed them. Destroying it aborts the request. */
  readonly body: Readable;
}

/** One request on one pool. */
export interface Call {
  readonly path: string;
  readonly method: string;
  readonly headers: OutgoingHeaders;
  readonly body: string | Uint8Array | SegmentedBody | Readable | undefined;
  readonly signal: AbortSignal | undefined;
  /** Milliseconds until the head of the answer, 0 for no limit. */
  readonly headersTimeoutMs: number;
  /** Milliseconds of silence within the body, 0 for no limit. */
  readonly idleTimeoutMs: number;
  /** Milliseconds in all, null for no limit. */
  readonly totalTimeoutMs: number | null;
}

/**
 * Sends one request straight through the dispatcher: no web streams, no copies. Rejects with what `toEgressError`
 * makes of a failure; a failure after the head is emitted by the body, in the same form.
 */
export function exchange(dispatcher: Dispatcher, call: Call): Promise<UpstreamResponse> {
  return new Promise((resolve, reject) => {
    const handler = new ExchangeHandler(call, resolve, reject);
    if (!handler.isSettled) {
      const { path, method, headers, body, headersTimeoutMs, idleTimeoutMs } = call;
      // The length of what is in one piece or a stream is found out there.
      const length =
        body instanceof SegmentedBody ? { "content-length": String(body.byteLength) } : undefined;
      dispatcher.dispatch(
        {
          path,
          method,
          headers: length ? { ...headers, ...length } : headers,
          body: body as Dispatcher.DispatchOptions["body"],
          headersTimeout: headersTimeoutMs,
          bodyTimeout: idleTimeoutMs,
        },
        handler,
      );
    }
  });
}

/** Carries one answer from undici's callbacks to a node stream. */
class ExchangeHandler implements Dispatcher.DispatchHandler {
  isSettled = false;
  readonly #call: Call;
  readonly #resolve: (response: UpstreamResponse) => void;
  readonly #reject: (error: Error) => void;
  readonly #timer: NodeJS.Timeout | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #body: DirectBody | undefined;
  #failure: Error | undefined;

  constructor(call: Call, resolve: (response: UpstreamResponse) => void, reject: (error: Error) => void) {
    this.#call = call;
    this.#resolve = resolve;
    this.#reject = reject;
    if (call.signal?.aborted) {
      this.#abort();
      return;
    }
    call.signal?.addEventListener("abort", this.#abort, { once: true });
    if (call.totalTimeoutMs !== null) {
      this.#timer = setTimeout(() => this.#fail(toTimeLimit()), call.totalTimeoutMs);
      this.#timer.unref();
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Aborted while the connection was still being made.
    if (this.#failure) {
      controller.abort(this.#failure);
    }
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: UpstreamResponse["headers"],
  ): void {
    if (status < 200 || this.isSettled) {
      return;
    }
    this.#body = this.#createBody(controller);
    this.isSettled = true;
    this.#resolve({ status, headers, body: this.#body });
  }

  onResponseData(_controller: Dispatcher.DispatchController, piece: Buffer): void {
    this.#body?.arrive(piece);
  }

  onResponseEnd(): void {
    this.#controller = undefined;
    this.#release();
    this.#body?.complete();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#controller = undefined;
    this.#fail(error);
  }

  #createBody(controller: Dispatcher.DispatchController): DirectBody {
    return new DirectBody({
      pause: () => controller.pause(),
      resume: () => controller.resume(),
      abandon: (error) => {
        this.#release();
        const open = this.#controller;
        this.#controller = undefined;
        open?.abort(error ?? new Error("the answer was abandoned"));
      },
    });
  }

  #abort = (): void => {
    this.#fail(this.#call.signal?.reason);
  };

  #fail(cause: unknown): void {
    if (this.#failure) {
      return;
    }
    const error = toEgressError(cause, this.#call.signal);
    this.#failure = error;
    this.#release();
    if (this.#body) {
      this.#body.destroy(error);
      return;
    }
    this.isSettled = true;
    this.#controller?.abort(error);
    this.#reject(error);
  }

  #release(): void {
    clearTimeout(this.#timer);
    this.#call.signal?.removeEventListener("abort", this.#abort);
  }
}
