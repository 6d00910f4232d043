import type { App } from "./app.ts";
import type { OwnedRoute } from "#kernel/http/bind.ts";
import { type ErrorShape, hasOwnListener, surfaces } from "#kernel/http/surfaces.ts";

/** An id that no row has. */
export const unknownId = "00000000-0000-4000-8000-000000000000";

/** The routes that an app answers on its own address. */
export function routesOf({ running }: Pick<App, "running">): OwnedRoute[] {
  return running.gathered.routes.filter(({ surface }) => !hasOwnListener(surface));
}

/** `METHOD /complete/path` as it is declared. */
export function nameOf({ surface, route }: OwnedRoute): string {
  return `${route.method} ${surfaces[surface].base}${route.path}`;
}

/** The declared path with every parameter filled. */
export function toUrlPath(
  { surface, route }: OwnedRoute,
  params: Record<string, string> = {},
  base: string = surfaces[surface].base,
): string {
  const path = route.path.replaceAll(/\*\*:(\w+)|\*\*|:(\w+)/g, (_match, rest?: string, name?: string) =>
    encodeURIComponent(params[rest ?? name ?? ""] ?? unknownId),
  );
  return base + path;
}

/** The shape in which a route tells its errors. */
export function shapeOf({ surface, route }: OwnedRoute): ErrorShape {
  return route.errors ?? surfaces[surface].errors;
}

export interface ProbeAnswer {
  readonly status: number;
  readonly text: string;
}

export interface Probe {
  readonly token?: string | undefined;
  /** Sent as it is, as JSON. */
  readonly body?: string | undefined;
  readonly params?: Record<string, string>;
  /** The query, without its question mark. */
  readonly query?: string | undefined;
  /** Stands for every parameter, as it is in the URL. */
  readonly raw?: string;
  /** Another name of the surface's base. */
  readonly base?: string;
}

/** Calls a route; of an endless answer only the status is read. */
export async function probe(
  url: string,
  owned: OwnedRoute,
  { token, body, params, query, raw, base }: Probe,
): Promise<ProbeAnswer> {
  const answer = await fetch(
    url +
      (raw === undefined
        ? toUrlPath(owned, params, base)
        : toUrlPath(owned, {}, base).replaceAll(unknownId, raw)) +
      (query === undefined ? "" : `?${query}`),
    {
      method: owned.route.method,
      redirect: "manual",
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      body: body ?? null,
      signal: AbortSignal.timeout(20_000),
    },
  );
  if (answer.ok && answer.headers.get("content-type")?.startsWith("text/event-stream")) {
    await answer.body?.cancel();
    return { status: answer.status, text: "" };
  }
  return { status: answer.status, text: await answer.text() };
}

/** Describes how an error's body misses the shape of its surface; undefined when it fits. */
export function findShapeProblem(shape: ErrorShape, text: string): string | undefined {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return `is no JSON: ${text.slice(0, 100)}`;
  }
  return shapes[shape](toFields(body)) ? undefined : `has not the shape "${shape}": ${text.slice(0, 200)}`;
}

type Fields = Record<string, unknown>;

const hasDetail = ({ detail }: Fields) => typeof detail === "string" || Array.isArray(detail);
const hasError = ({ error }: Fields) => {
  const { message, type, code } = toFields(error);
  return typeof message === "string" && typeof type === "string" && code !== undefined;
};

const shapes: Record<ErrorShape, (body: Fields) => boolean> = {
  detail: hasDetail,
  runtime: ({ error }) => typeof error === "string",
  compat: hasError,
  both: (body) => hasDetail(body) && hasError(body),
  message: ({ type, error }) => type === "error" && typeof toFields(error)["type"] === "string",
  scim: ({ schemas, status, detail }) =>
    Array.isArray(schemas) && typeof status === "string" && typeof detail === "string",
};

function toFields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}
