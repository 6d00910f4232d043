import type { Readable } from "node:stream";
import type { CallContext } from "#kernel/completion/provider.ts";
import type { Egress } from "#kernel/egress/egress.ts";
import { AppError, ProviderError } from "#kernel/errors.ts";
import type { Upstream } from "#kernel/http/route.ts";
import { openUpstream } from "#kernel/upstream/client.ts";
import { toHeaderText } from "#kernel/upstream/header-text.ts";
import type { UserHeaders } from "#kernel/upstream/user-headers.ts";
import type { Backend, Holder } from "./backend.ts";

export interface RuntimeCall {
  /** Below the backend's base address, with a slash in front. */
  readonly path: string;
  readonly method?: "GET" | "POST" | "DELETE" | "HEAD";
  readonly body?: string | Readable | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** The streamed answer's limit of silence holds instead of the general one. */
  readonly isStream?: boolean;
  /** Milliseconds in all; the general limit when left out. */
  readonly timeLimit?: number | undefined;
  /** Undefined for calls of the platform itself. */
  readonly context?: CallContext | undefined;
}

/** A call whose body names the model as the chosen backend knows it. */
export interface ModelCall extends Omit<RuntimeCall, "body"> {
  toBody(upstreamId: string): string;
}

export interface Answered {
  readonly upstream: Upstream;
  readonly holder: Holder;
}

export interface RuntimeClient {
  /** Calls one backend. Throws ProviderError for a refusal, AppError `upstream` or `timeout` without a usable answer. */
  open(backend: Backend, call: RuntimeCall): Promise<Upstream>;
  /** Calls the holders in order until one answers; a backend that is down, overloaded or lost the model is skipped. */
  openAny(holders: readonly Holder[], call: ModelCall): Promise<Answered>;
}

export interface RuntimeClientOptions {
  readonly egress: Egress;
  readonly users: UserHeaders;
  /** AIOHTTP_CLIENT_STREAM_IDLE_TIMEOUT in seconds. */
  streamIdleTimeout(): number | null;
  /** Called for every call: whether the backend could be reached. */
  recordReachability(backend: Backend, isReached: boolean): void;
}

/** Builds the client for backends over the one outbound client. */
export function createRuntimeClient(options: RuntimeClientOptions): RuntimeClient {
  const open: RuntimeClient["open"] = async (backend, call) => {
    const { signal, ...facts } = call.context ?? { signal: undefined };
    const own: Record<string, string> = {
      "content-type": "application/json",
      accept: "*/*",
      ...call.headers,
    };
    if (backend.key !== "") {
      own["authorization"] = `Bearer ${toHeaderText(backend.key)}`;
    }
    const headers = options.users.add(own, "principal" in facts ? facts : undefined);
    return openUpstream(options.egress, {
      url: backend.url + call.path,
      method: call.method ?? "POST",
      headers: headers instanceof Promise ? await headers : headers,
      body: call.body,
      idleSeconds: call.isStream ? options.streamIdleTimeout() : null,
      timeLimit: call.timeLimit,
      secret: backend.key,
      signal,
    });
  };
  return {
    open,
    async openAny(holders, { toBody, ...call }) {
      let failure: unknown = new AppError("not_found", "Model not found");
      for (const holder of holders) {
        try {
          const upstream = await open(holder.backend, { ...call, body: toBody(holder.upstreamId) });
          options.recordReachability(holder.backend, true);
          return { upstream, holder };
        } catch (error) {
          const isRefusal = error instanceof ProviderError;
          options.recordReachability(holder.backend, isRefusal || call.context?.signal.aborted === true);
          if (call.context?.signal.aborted || !mayTryOther(error)) {
            throw error;
          }
          failure = error;
        }
      }
      throw failure;
    },
  };
}

/** A model that was removed since the list was read is 404; 502 to 504 say that another backend may do better. */
function mayTryOther(error: unknown): boolean {
  return error instanceof ProviderError
    ? [404, 502, 503, 504].includes(error.status)
    : error instanceof AppError && (error.code === "upstream" || error.code === "timeout");
}
