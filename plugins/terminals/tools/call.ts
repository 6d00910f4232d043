import { z } from "zod";
import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";
import type { ToolOutput } from "#kernel/tools/output.ts";
import type { OpenApi, Operation } from "#plugins/tool-servers/service.ts";
import type { Terminal } from "../connections/schema.ts";
import { ask } from "../connections/upstream.ts";
import { toAddress } from "../proxy/address.ts";
import { type Caller, toIdentityHeaders } from "../proxy/identity.ts";

/** One call of an operation. */
export interface OperationCall {
  readonly operation: Operation;
  readonly base: string;
  readonly given: Record<string, unknown>;
  readonly caller: Caller;
  readonly signal: AbortSignal;
  readonly seconds: number | null;
}

/** Calls an operation of a terminal server for a model, as the person whose reply it is. */
export async function callOperation(
  { egress, openapi }: { readonly egress: Egress; readonly openapi: OpenApi },
  terminal: Terminal,
  { operation, base, given, caller, signal, seconds }: OperationCall,
): Promise<ToolOutput> {
  const request = openapi.request(operation, base, given);
  if (!URL.parse(request.url)?.href.startsWith(`${base}/`)) {
    throw new AppError("invalid", "The call would leave the terminal server.");
  }
  try {
    const response = await egress.fetch(request.url, {
      trust: "operator",
      redirects: false,
      method: request.method,
      headers: {
        accept: "application/json, text/*;q=0.9, */*;q=0.8",
        ...(request.contentType !== undefined && { "content-type": request.contentType }),
        ...request.headers,
        // Last: no parameter of a model takes their place.
        ...(await toIdentityHeaders(terminal, caller)),
      },
      ...(request.body !== undefined && { body: request.body }),
      signal,
      timeoutMs: seconds === null ? undefined : seconds <= 0 ? null : seconds * 1000,
    });
    return await openapi.output(response);
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof AppError
      ? new AppError(
          error.code,
          error.message.replace(/^The (?:upstream|server)\b/, `The terminal "${terminal.name}"`),
          {
            cause: error,
          },
        )
      : error;
  }
}

const Cwd = z.looseObject({ cwd: z.string().max(4096) });

/** Where commands run for this caller; undefined where the server does not tell. */
export async function readCwd(
  egress: Egress,
  terminal: Terminal,
  caller: Caller,
): Promise<string | undefined> {
  try {
    const answer = await ask(egress, terminal, {
      url: toAddress(terminal, "files/cwd"),
      caller,
      timeoutMs: 3_000,
    });
    return answer.status === 200 ? Cwd.safeParse(answer.value).data?.cwd : undefined;
  } catch {
    return undefined;
  }
}
