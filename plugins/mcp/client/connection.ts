import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { CallToolResult, Progress } from "@modelcontextprotocol/sdk/types.js";
import { loadSdk, type McpSdk } from "../sdk.ts";
import { type CallInProgress, callContext, CallsInProgress } from "./call-context.ts";
import { createListCache, type ListCache, listAll } from "./lists.ts";
import type { FetchLike } from "./server-fetch.ts";
import { toServerError } from "./server-error.ts";

export interface CallRequest {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface CallOptions {
  readonly signal: AbortSignal;
  /** Milliseconds for the whole call; null for no limit. */
  readonly timeoutMs: number | null;
  onProgress?(progress: Progress): void;
  /** The account that the call runs for. */
  readonly person: string;
  /** Answers questions of the server; without it they are declined. */
  readonly elicit?: CallInProgress["elicit"];
}

/** An initialised session with a server. */
export interface Connection {
  readonly tools: ListCache<"tools">;
  readonly prompts: ListCache<"prompts">;
  readonly resources: ListCache<"resources">;
  readonly client: Client;
  /** Calls a tool. Throws AppErrors, and the reason of the caller's signal. */
  call(request: CallRequest, options: CallOptions): Promise<CallToolResult>;
  readonly isOpen: boolean;
  close(): Promise<void>;
}

export interface ConnectOptions {
  readonly url: string;
  readonly fetch: FetchLike;
  readonly version: string;
  /** Milliseconds for the whole handshake (MCP_INITIALIZE_TIMEOUT). */
  readonly initializeTimeoutMs: number;
  readonly signal?: AbortSignal;
}

/** Longer than timers can count is no limit. */
const noLimit = 2 ** 31 - 1;

/** Opens a session over Streamable HTTP. Throws AppErrors: `timeout`, `upstream`, `unauthenticated`, `forbidden`. */
export function connect(options: ConnectOptions): Promise<Connection> {
  // The stream for messages of the server lives as long as the connection: it belongs to no call.
  return callContext.exit(() => openConnection(options));
}

async function openConnection(options: ConnectOptions): Promise<Connection> {
  const sdk = await loadSdk();
  const client = new sdk.Client(
    { name: "Millrace", version: options.version },
    { capabilities: { elicitation: { form: { applyDefaults: true } } } },
  );
  const calls = new CallsInProgress();
  client.setRequestHandler(sdk.ElicitRequestSchema, async ({ params }, { signal }) => {
    const call = callContext.getStore() ?? calls.only();
    return call ? await call.elicit(params, signal) : { action: "decline" };
  });
  const transport = new sdk.StreamableHTTPClientTransport(new URL(options.url), { fetch: options.fetch });
  const late = AbortSignal.timeout(options.initializeTimeoutMs);
  const signal = options.signal ? AbortSignal.any([options.signal, late]) : late;
  try {
    // The transport starts its stream of messages itself; its type is stricter about undefined than ours.
    const opening = client.connect(transport as never, { timeout: options.initializeTimeoutMs });
    await Promise.race([opening, rejectOnAbort(signal)]);
  } catch (error) {
    await client.close().catch(() => {});
    options.signal?.throwIfAborted();
    throw toServerError(error);
  }
  return toConnection(sdk, client, transport, calls);
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}

function toConnection(
  sdk: McpSdk,
  client: Client,
  transport: StreamableHTTPClientTransport,
  calls: CallsInProgress,
): Connection {
  let isOpen = true;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has these alone
  client.onclose = () => (isOpen = false);
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the same
  client.onerror = (error) => {
    if (error.message.startsWith("Maximum reconnection attempts")) {
      isOpen = false;
      callContext.getStore()?.fail(error);
    }
  };
  const can = client.getServerCapabilities() ?? {};
  const tools = createListCache(() => (can.tools ? listAll.tools(client) : []));
  client.setNotificationHandler(sdk.ToolListChangedNotificationSchema, () => tools.forget());
  return {
    client,
    tools,
    prompts: createListCache(() => (can.prompts ? listAll.prompts(client) : [])),
    resources: createListCache(() => (can.resources ? listAll.resources(client) : [])),
    get isOpen() {
      return isOpen;
    },
    call: (request, options) =>
      calls.during(options.person, toCall(options), (call) =>
        callTool(client, request, { ...options, call }),
      ),
    async close() {
      isOpen = false;
      await Promise.race([transport.terminateSession().catch(() => {}), delay(1000)]);
      await client.close().catch(() => {});
    },
  };
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

interface BreakableCall extends CallInProgress {
  readonly broken: AbortSignal;
}

function toCall({ elicit }: CallOptions): BreakableCall {
  const broken = new AbortController();
  return {
    elicit: elicit ?? (async () => ({ action: "decline" })),
    fail: (error) => broken.abort(error),
    broken: broken.signal,
  };
}

async function callTool(
  client: Client,
  request: CallRequest,
  { signal, timeoutMs, onProgress, call }: CallOptions & { readonly call: BreakableCall },
): Promise<CallToolResult> {
  const timeout = timeoutMs ?? noLimit;
  const { CallToolResultSchema } = await loadSdk();
  try {
    // Not `callTool` of the SDK: a result that does not fit the output schema of its tool still tells something.
    return await callContext.run(call, () =>
      client.request({ method: "tools/call", params: { ...request } }, CallToolResultSchema, {
        signal: AbortSignal.any([signal, call.broken]),
        timeout,
        maxTotalTimeout: timeout,
        ...(onProgress && { onprogress: onProgress }),
      }),
    );
  } catch (error) {
    signal.throwIfAborted();
    throw toServerError(error);
  }
}
