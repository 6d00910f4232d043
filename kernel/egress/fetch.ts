import { createFetch } from "ofetch";
import { type Dispatcher, fetch as undiciFetch, Headers as UndiciHeaders } from "undici";
import { toEgressError, toSizeLimit, toTimeLimit } from "./failure.ts";

/** One request of `fetch`, without its redirects. */
export interface FetchCall {
  readonly url: URL;
  readonly method: string;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: FetchBody | undefined;
  readonly signal: AbortSignal | undefined;
  /** Milliseconds in all, reading the body included; null for no limit. */
  readonly timeoutMs: number | null;
  /** Bytes of the decompressed body. */
  readonly maxBytes: number | undefined;
}

/** A request body; a plain object or array goes out as JSON. */
export type FetchBody = BodyInit | Readonly<Record<string, unknown>> | readonly unknown[];

/** Sends one request with `fetch` over a pool. Rejects, and breaks the body off, with AppErrors. */
export async function fetchOnce(dispatcher: Dispatcher, call: FetchCall): Promise<Response> {
  const deadline = createDeadline(call.signal, call.timeoutMs);
  try {
    const response = await send(dispatcher, call, deadline.signal);
    if (call.maxBytes !== undefined && Number(response.headers.get("content-length")) > call.maxBytes) {
      throw toSizeLimit();
    }
    return toResponse(response, call, deadline);
  } catch (error) {
    const failure = toEgressError(error, deadline.signal);
    // The body will not be read, so the connection is released here.
    deadline.abort(failure);
    throw failure;
  }
}

/** Reads bodies once that only this process's own `fetch` can send (FormData), so that they can go out and be sent again. */
export async function toSendable(
  body: FetchBody | undefined,
): Promise<{ body: FetchBody | undefined; contentType?: string }> {
  if (!(body instanceof FormData)) {
    return { body };
  }
  const encoded = new Response(body);
  return { contentType: encoded.headers.get("content-type") ?? "", body: await encoded.bytes() };
}

// Undici's own Headers: those of the platform belong to another copy of undici, whose internals differ.
const raw = createFetch({
  fetch: undiciFetch as unknown as typeof fetch,
  Headers: UndiciHeaders as never,
}).raw;

function send(dispatcher: Dispatcher, call: FetchCall, signal: AbortSignal): Promise<Response> {
  return raw(call.url.href, {
    method: call.method,
    headers: call.headers as Record<string, string>,
    ...(call.body !== undefined && { body: call.body as BodyInit }),
    signal,
    dispatcher: dispatcher as never,
    redirect: "manual",
    // What a status means, and whether a try is worth repeating, is the caller's business.
    ignoreResponseError: true,
    retry: false,
    responseType: "stream",
  });
}

/** A platform Response whose body keeps to the size and time limits. */
function toResponse(source: Response, call: FetchCall, deadline: Deadline): Response {
  const headers = new Headers([...source.headers]);
  if (headers.has("content-encoding")) {
    // The body is read decompressed, so neither describes it any more.
    headers.delete("content-encoding");
    headers.delete("content-length");
  }
  if (!source.body) {
    deadline.release();
  }
  const body = source.body && limitBody(source.body, call.maxBytes ?? Infinity, deadline);
  const response = new Response(body, { status: source.status, statusText: source.statusText, headers });
  Object.defineProperty(response, "url", { value: call.url.href });
  return response;
}

function limitBody(source: ReadableStream<Uint8Array>, maxBytes: number, deadline: Deadline): ReadableStream {
  const reader = source.getReader();
  let size = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) {
            deadline.release();
            controller.close();
            return;
          }
          size += value.byteLength;
          if (size > maxBytes) {
            throw toSizeLimit();
          }
          controller.enqueue(value);
        } catch (error) {
          const failure = toEgressError(error, deadline.signal);
          deadline.abort(failure);
          controller.error(failure);
        }
      },
      cancel(reason) {
        deadline.release();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

interface Deadline {
  readonly signal: AbortSignal;
  release(): void;
  /** Breaks the request off, whatever state it is in. */
  abort(reason: Error): void;
}

/** One signal for the caller's abort, the time limit and failures; `release` frees the timer and the listener. */
function createDeadline(outer: AbortSignal | undefined, timeoutMs: number | null): Deadline {
  const controller = new AbortController();
  const follow = () => controller.abort(outer?.reason);
  const timer = timeoutMs === null ? undefined : setTimeout(() => controller.abort(toTimeLimit()), timeoutMs);
  timer?.unref();
  if (outer?.aborted) {
    follow();
  }
  outer?.addEventListener("abort", follow, { once: true });
  const release = () => {
    clearTimeout(timer);
    outer?.removeEventListener("abort", follow);
  };
  return {
    signal: controller.signal,
    release,
    abort(reason) {
      release();
      controller.abort(reason);
    },
  };
}
