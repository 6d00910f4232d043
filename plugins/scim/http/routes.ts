import { z } from "zod";
import { AppError } from "#kernel/errors.ts";
import { defaultPatience, readText } from "#kernel/http/body.ts";
import { scimMediaType, toErrorAnswer } from "#kernel/http/errors.ts";
import { parseJson } from "#kernel/http/json.ts";
import { type AnyRoute, defineRoute, type Method, reply, type RequestInfo } from "#kernel/http/route.ts";
import { surfaces } from "#kernel/http/surfaces.ts";
import { toQuery } from "#kernel/http/url-input.ts";
import type { CallLog } from "../calls/call-log.ts";
import { refusal } from "../errors.ts";
import type { Session } from "../resources/session.ts";
import { type Endpoint, endpoints } from "./endpoints.ts";

export interface ScimRouteParts {
  /** Throws `unauthenticated`. */
  requireProvider(header: string | undefined): void;
  openSession(request: RequestInfo, base: string): Promise<Session> | Session;
  /** The page that started a trial shows its calls; the log is of the provider's. */
  isTrial(request: RequestInfo): boolean;
  readonly calls: CallLog;
}

/** A group of 50,000 members with their references and names. */
const maxBody = 16 * 1024 * 1024;
const methods: readonly Method[] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** The surface `/api/v1/scim/v2`; also methods and paths that it does not have ask for the token first. */
export function scimRoutes(parts: ScimRouteParts): AnyRoute[] {
  const byPath = Map.groupBy(endpoints, ({ path }) => path);
  const refusals = [...byPath].flatMap(([path, known]) => {
    const allow = known.map(({ method }) => method).toSorted();
    const refused = methods.filter((method) => !allow.includes(method));
    return refused.map((method) => toRefusal(parts, { method, path }, methodNotAllowed(allow)));
  });
  const nothing = new AppError("not_found", "There is nothing at this address.");
  const unknown = (["/", "/**:rest"] as const).flatMap((path) =>
    methods.map((method) => toRefusal(parts, { method, path }, nothing)),
  );
  return [...endpoints.map((endpoint) => toRoute(parts, endpoint)), ...refusals, ...unknown];
}

function toRoute(parts: ScimRouteParts, { method, path, summary, hasBody, run }: Endpoint): AnyRoute {
  return defineRoute(
    {
      method,
      path,
      summary,
      access: "token",
      params: z.object({ id: z.string().default("") }),
      rawBody: true,
      produces: scimMediaType,
      fails: [401],
    },
    ({ params, request, raw }) =>
      logged(parts, request, async () => {
        parts.requireProvider(request.headers.authorization);
        const text = hasBody ? await readText(raw as never, { maxBytes: maxBody, ...defaultPatience }) : "";
        const answer = await run({
          session: await parts.openSession(request, toBase(request)),
          id: params.id,
          query: toQuery(request.url),
          body: hasBody ? toBody(text) : undefined,
        });
        return reply(answer.body, {
          status: answer.status,
          headers: {
            ...(answer.body !== undefined && { "content-type": scimMediaType }),
            ...(answer.location !== undefined && { location: answer.location }),
          },
        });
      }),
  );
}

function toRefusal(
  parts: ScimRouteParts,
  { method, path }: { method: Method; path: `/${string}` },
  error: AppError,
): AnyRoute {
  return defineRoute(
    { method, path, summary: "Refused", access: "token", rawBody: true, hidden: true },
    ({ request }) =>
      logged(parts, request, async () => {
        parts.requireProvider(request.headers.authorization);
        throw error;
      }),
  );
}

function methodNotAllowed(allowed: readonly string[]): AppError {
  const allow = allowed.join(", ");
  return new AppError("method_not_allowed", `This address answers ${allow}.`, { headers: { allow } });
}

function toBody(text: string): unknown {
  if (text.trim() === "") {
    throw refusal("invalidSyntax", "A JSON body is required.");
  }
  return parseJson(text);
}

/** Addresses in answers are below the one that the client used. */
function toBase({ protocol, host }: RequestInfo): string {
  return `${protocol}://${host ?? "localhost"}${surfaces.scim.base}`;
}

/** Keeps the call for the administrators' page, whatever becomes of it. */
async function logged<T extends { readonly status: number }>(
  { calls, isTrial }: ScimRouteParts,
  request: RequestInfo,
  run: () => Promise<T>,
): Promise<T> {
  if (isTrial(request)) {
    return await run();
  }
  const started = performance.now();
  const facts = (status: number) => ({
    request,
    status,
    durationMs: Math.round(performance.now() - started),
  });
  try {
    const answer = await run();
    await calls.record(facts(answer.status));
    return answer;
  } catch (error) {
    const { status, body } = toErrorAnswer(error, {
      shape: "scim",
      invalidStatus: 400,
      requestId: request.id,
    });
    await calls.record({ ...facts(status), refusal: body });
    throw error;
  }
}
