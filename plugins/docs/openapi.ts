import type { OwnedRoute } from "#kernel/http/bind.ts";
import { createSchemas, type Json, type Schemas } from "./openapi-schemas.ts";
import type { AnyRoute } from "#kernel/http/route.ts";
import { type ErrorShape, type Surface, surfaces } from "#kernel/http/surfaces.ts";

const statusTexts: Record<number, string> = {
  400: "The request is wrong in itself or in this state",
  401: "No credential, or a bad one",
  403: "The caller lacks the role, permission or feature",
  404: "Does not exist, or the caller may not know that it does",
  409: "Conflict with what exists or with a running request",
  413: "The body is too large",
  422: "The request does not fit the declared shape",
  429: "Too many requests",
  502: "An upstream answered wrongly",
  503: "A part that is needed is switched off or does not answer",
  504: "An upstream did not answer in time",
};

/** Describes the routes of one surface as an OpenAPI 3.1 document; schemas named by `.meta({id})` become components. */
export function toOpenApi(surface: Surface, owned: readonly OwnedRoute[], version: string): Json {
  const routes = owned.filter((entry) => entry.surface === surface && !entry.route.hidden);
  let owner = "";
  const schemas = createSchemas(() => owner);
  const paths: Record<string, Json> = {};
  for (const { route, plugin } of routes) {
    owner = plugin;
    const path = surfaces[surface].base + toTemplate(route.path);
    (paths[path] ??= {})[route.method.toLowerCase()] = toOperation(route, { plugin, surface, path, schemas });
  }
  return schemas.settle({
    openapi: "3.1.0",
    info: {
      title: `Millrace: ${surfaces[surface].title} (experimental interface)`,
      version,
      description: "This interface is experimental and may change.",
    },
    security: [{ bearer: [] }],
    paths,
    components: { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } },
  });
}

const parameter = /\*\*:(\w+)|\*\*|:(\w+)/g;

function toTemplate(path: string): string {
  return path.replaceAll(parameter, (_match, rest?: string, name?: string) => `{${rest ?? name ?? "path"}}`);
}

interface OperationContext {
  readonly plugin: string;
  readonly surface: Surface;
  /** The complete templated path. */
  readonly path: string;
  readonly schemas: Schemas;
}

function toOperation(route: AnyRoute, context: OperationContext): Json {
  const { plugin, path, schemas } = context;
  const body = toRequestBody(route, schemas);
  return {
    operationId: toOperationId(route.method, path),
    tags: [plugin],
    summary: route.summary,
    description: `Access: ${route.access}.${route.deprecated ? ` Deprecated: ${route.deprecated}.` : ""}`,
    ...(route.deprecated ? { deprecated: true } : {}),
    ...(route.access === "public" ? { security: [] } : {}),
    parameters: [...toPathParameters(route, schemas), ...toQueryParameters(route, schemas)],
    ...(body ? { requestBody: body } : {}),
    responses: toResponses(route, context),
  };
}

/** `GET /api/v1/files/{id}` → `get_api_v1_files_id`: as unique as the path, and a name in every language. */
function toOperationId(method: string, path: string): string {
  const words = path.replaceAll(/\W+/g, "_").replaceAll(/^_|_$/g, "");
  // A path with a last slash is another path to the document, though the same to the server.
  const root = path.endsWith("/") && path !== "/" ? "_root" : "";
  return [method.toLowerCase(), words].filter((part) => part !== "").join("_") + root;
}

function toResponses(route: AnyRoute, { surface, schemas }: OperationContext): Json {
  const facts = surfaces[surface];
  const shape = route.errors ?? facts.errors;
  const invalid = shape === "detail" ? facts.invalidStatus : 400;
  const failures = new Set<number>(route.fails ?? []);
  if (route.access !== "public") {
    failures.add(401).add(403);
  }
  if (route.body || route.query || route.params) {
    failures.add(invalid);
  }
  const error = schemas.refer(`Error.${shape}`, errorSchemas[shape]);
  const responses: Json = { 200: { description: "Success", ...toContent(route, schemas) } };
  for (const status of [...failures].toSorted((a, b) => a - b)) {
    const description = statusTexts[status] ?? "Failure";
    responses[status] = { description, content: { "application/json": { schema: error } } };
  }
  return responses;
}

function toContent(route: AnyRoute, schemas: Schemas): Json {
  if (route.produces) {
    return { content: { [route.produces]: {} } };
  }
  return {
    content: {
      "application/json": route.returns ? { schema: schemas.toSchema(route.returns, "output") } : {},
    },
  };
}

function toRequestBody(route: AnyRoute, schemas: Schemas): Json | undefined {
  if (route.upload) {
    const file = { type: "string", format: "binary" };
    const schema = { type: "object", required: ["file"], properties: { file } };
    return { required: true, content: { "multipart/form-data": { schema } } };
  }
  if (!route.body) {
    return undefined;
  }
  const schema = schemas.toSchema(route.body, "input");
  return { required: !route.bodyOptional, content: { "application/json": { schema } } };
}

/** Every name of the template, whether the route declares a shape for it or not. */
function toPathParameters(route: AnyRoute, schemas: Schemas): Json[] {
  const { properties = {} } = route.params ? toObject(route.params, schemas) : {};
  return [...route.path.matchAll(parameter)].map(([, rest, single]) => {
    const name = rest ?? single ?? "path";
    return { name, in: "path", required: true, schema: properties[name] ?? { type: "string" } };
  });
}

function toQueryParameters(route: AnyRoute, schemas: Schemas): Json[] {
  const { properties = {}, required = [] } = route.query ? toObject(route.query, schemas) : {};
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema,
  }));
}

function toObject(
  type: NonNullable<AnyRoute["query"]>,
  schemas: Schemas,
): { properties?: Json; required?: string[] } {
  return schemas.toSchema(type, "input", false);
}

const text = { type: "string" };
const fields = (properties: Json): Json => ({
  type: "object",
  required: Object.keys(properties),
  properties,
});
const detail = {
  description: "What went wrong; for input that does not fit, one entry a problem",
  anyOf: [
    text,
    { type: "array", items: fields({ type: text, loc: { type: "array" }, msg: text, input: {} }) },
  ],
};
const common = fields({ message: text, type: text, code: { type: ["integer", "string", "null"] } });

/** The bodies of `kernel/http/errors.ts`, by shape. */
const errorSchemas: Record<ErrorShape, Json> = {
  detail: fields({ detail }),
  runtime: fields({ error: text }),
  compat: fields({ error: common }),
  both: fields({ detail, error: common }),
  message: fields({ type: { const: "error" }, error: fields({ type: text, message: text }) }),
  scim: fields({ schemas: { type: "array", items: text }, status: text, detail: text }),
};
