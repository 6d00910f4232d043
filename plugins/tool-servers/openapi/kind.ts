import { createHash } from "node:crypto";
import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";
import type { ToolOutput } from "#kernel/tools/output.ts";
import type { Tool, ToolContext, ToolRun } from "#kernel/tools/tool.ts";
import { maskKey } from "#kernel/upstream/mask.ts";
import type { Facts } from "#kernel/upstream/user-headers.ts";
import { isNameAllowed } from "../connections/name-filter.ts";
import type { ToolServerConnection, ToolServerKind } from "../service.ts";
import type { Operation } from "../web/openapi/operations.ts";
import { type OperationRequest, toRequest } from "../web/openapi/request.ts";
import { toOutput } from "./answer.ts";
import { loadOffer, type Offer } from "./documents.ts";
import type { ServerHeaders } from "./headers.ts";
import type { Offers } from "./offers.ts";

export interface OpenApiKindOptions {
  readonly egress: Egress;
  readonly headers: ServerHeaders;
  readonly offers: Offers;
  /** Seconds for one call; null for the general limit, 0 or less for none. */
  callTimeout(): number | null;
}

/** Servers that describe themselves by an OpenAPI document (contract §5.1). */
export function createOpenApiKind(options: OpenApiKindOptions): ToolServerKind {
  const { egress, headers, offers } = options;
  return {
    type: "openapi",
    async tools(connection, { run, signal, onProblem }) {
      const { offer, reason } = await offers.get(connection, signal);
      if (offer === undefined) {
        throw new AppError("upstream", reason ?? "its document could not be read");
      }
      const allowed = offer.operations.filter(({ name }) => isNameAllowed(connection, name));
      if (allowed.length === 0) {
        onProblem(`The tool server "${connection.name}" offers no functions.`);
      }
      return allowed.map((operation) => toTool({ ...options, connection, offer, operation, run }));
    },
    async state(connection, isAsked) {
      const state = isAsked ? await offers.refresh(connection) : offers.peek(connection);
      return {
        state: state === undefined ? "unknown" : state.reason === undefined ? "reachable" : "failing",
        reason: state?.reason ?? null,
        checked_at: state?.checkedAt ?? null,
        latency_ms: state?.latencyMs ?? null,
        functions: (state?.offer?.operations ?? []).map(({ name, description, isReadOnly }) => ({
          name,
          description,
          is_read_only: isReadOnly,
          is_offered: isNameAllowed(connection, name),
        })),
      };
    },
    async verify(connection, principal, signal) {
      const built = await headers.build(connection, { principal });
      const { document, operations } = await loadOffer(egress, connection, { headers: built, signal });
      return { openapi: document.version, info: document.info, specs: operations.map(toSpec) };
    },
  };
}

const toSpec = ({ name, description, parameters }: Operation) => ({ name, description, parameters });

interface Place extends OpenApiKindOptions {
  readonly connection: ToolServerConnection;
  readonly offer: Offer;
  readonly operation: Operation;
  readonly run: ToolRun | undefined;
}

function toTool(place: Place): Tool {
  const { connection, operation } = place;
  const spec = toSpec(operation);
  return {
    id: connection.toolId,
    spec,
    isExternal: true,
    isParallel: operation.isReadOnly,
    isActing: !operation.isReadOnly,
    server: connection.name,
    ...(operation.isConsequential && { approval: "ask" }),
    revision: createHash("sha256").update(JSON.stringify(spec)).digest("base64url").slice(0, 16),
    run: (parameters, context) => call(place, parameters, context),
  };
}

async function call(
  { egress, headers, callTimeout, connection, offer, operation, run }: Place,
  parameters: Record<string, unknown>,
  context: ToolContext,
): Promise<ToolOutput> {
  const request = requireRequest(operation, offer.base, parameters);
  const own = await headers.build(connection, toFacts(context, run));
  const seconds = callTimeout();
  try {
    const response = await egress.fetch(request.url, {
      trust: "operator",
      method: request.method,
      headers: {
        accept: "application/json, text/*;q=0.9, */*;q=0.8",
        ...(request.contentType !== undefined && { "content-type": request.contentType }),
        ...request.headers,
        // The server's own last: no parameter of a model takes their place.
        ...own,
      },
      ...(request.body !== undefined && { body: request.body }),
      signal: context.signal,
      timeoutMs: seconds === null ? undefined : seconds <= 0 ? null : seconds * 1000,
    });
    return await toOutput(response);
  } catch (error) {
    context.signal.throwIfAborted();
    const secret = (own["authorization"] ?? "").replace(/^Bearer /, "");
    throw error instanceof AppError ? toNamed(error, { name: connection.name, seconds, secret }) : error;
  }
}

function requireRequest(
  operation: Operation,
  base: string,
  parameters: Record<string, unknown>,
): OperationRequest {
  try {
    return toRequest(operation, base, parameters);
  } catch (error) {
    throw new AppError("invalid", (error as Error).message, { cause: error });
  }
}

interface Naming {
  readonly name: string;
  readonly seconds: number | null;
  /** Some servers quote what they refuse; no model may read it. */
  readonly secret: string;
}

/** What the model reads names the server. */
function toNamed(error: AppError, { name, seconds, secret }: Naming): AppError {
  const words =
    error.code === "timeout" && seconds !== null
      ? `The tool server "${name}" did not finish within ${seconds} seconds.`
      : error.message.replace(/^The (upstream|server)\b/, `The tool server "${name}"`);
  const shown = secret.length >= 8 ? words.replaceAll(secret, maskKey(secret)) : words;
  return new AppError(error.code, shown, { cause: error });
}

function toFacts({ principal, chatId, messageId, sessionId }: ToolContext, run: ToolRun | undefined): Facts {
  const asked = run?.request.user_message as { id?: unknown; parentId?: unknown } | null | undefined;
  const toId = (value: unknown) => (typeof value === "string" ? value : undefined);
  return {
    principal,
    chatId,
    messageId,
    sessionId,
    userMessageId: toId(asked?.id),
    userMessageParentId: toId(asked?.parentId),
  };
}
