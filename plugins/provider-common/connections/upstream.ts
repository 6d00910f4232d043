import type { Readable } from "node:stream";
import type { CallContext } from "#kernel/completion/provider.ts";
import type { Egress } from "#kernel/egress/egress.ts";
import type { SegmentedBody } from "#kernel/egress/segmented-body.ts";
import type { Upstream } from "#kernel/http/route.ts";
import { openUpstream } from "#kernel/upstream/client.ts";
import type { Connection } from "./connection.ts";
import type { HeaderBuilder } from "./headers.ts";

export interface UpstreamCall {
  readonly connection: Connection;
  /** Full address. */
  readonly url: string;
  readonly method: string;
  readonly body?: string | Buffer | SegmentedBody | Readable | undefined;
  /** The streamed answer's limit of silence holds instead of the general one. */
  readonly isStream?: boolean;
  /** Content type of the body when it is not JSON. */
  readonly contentType?: string | undefined;
  readonly accept?: string | undefined;
  /** Headers of the caller that go along where the connection sets none of its own. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Milliseconds in all; the general limit when left out. */
  readonly timeLimit?: number | undefined;
  /** Undefined for calls of the platform itself. */
  readonly facts?: Omit<CallContext, "signal"> | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface UpstreamClient {
  /**
   * Sends one request; resolves with the head of a good answer. Throws ProviderError for a refusal, AppError
   * `upstream` or `timeout` when there is no usable answer.
   */
  open(call: UpstreamCall): Promise<Upstream>;
}

export interface UpstreamClientOptions {
  readonly egress: Egress;
  readonly headers: HeaderBuilder;
  /** AIOHTTP_CLIENT_STREAM_IDLE_TIMEOUT in seconds. */
  streamIdleTimeout(): number | null;
}

/** Builds the client for common-format upstreams over the one outbound client. */
export function createUpstreamClient(options: UpstreamClientOptions): UpstreamClient {
  return {
    async open(call) {
      const { connection, facts, isStream, contentType, accept, headers: given } = call;
      const built = options.headers.build(connection, facts);
      const own = built instanceof Promise ? await built : built;
      const headers = given === undefined ? own : { ...given, ...own };
      headers["accept"] = accept ?? (isStream ? "text/event-stream, application/json" : "application/json");
      if (contentType !== undefined) {
        headers["content-type"] = contentType;
      }
      const idleSeconds = isStream ? options.streamIdleTimeout() : null;
      // Whatever proved who asks: a refusal may quote it.
      const secret = connection.auth === "bearer" ? connection.key : toBearer(headers["authorization"]);
      const { url, method, body, timeLimit, signal } = call;
      return await openUpstream(options.egress, {
        url,
        method,
        headers,
        body,
        timeLimit,
        signal,
        idleSeconds,
        secret,
      });
    },
  };
}

function toBearer(header = ""): string {
  return header.replace(/^Bearer /, "");
}
