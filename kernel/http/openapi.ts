import { z } from "zod";
import type { OwnedRoute } from "./bind.ts";
import type { AnyRoute } from "./route.ts";
import { type Surface, surfaces } from "./surfaces.ts";

type Json = Record<string, unknown>;

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
  const components: Json = {};
  const paths: Record<string, Json> = {};
  for (const { route, plugin } of routes) {
    const path = surfaces[surface].base + toTemplate(route.path);
    (paths[path] ??= {})[route.method.toLowerCase()] = toOperation(route, { plugin, surface, components });
  }
  return {
    openapi: "3.1.0",
    info: {
      title: `Millrace: ${surfaces[surface].title} (experimental interface)`,
      version,
      description: "This interface is experimental and may change.",
    },
    security: [{ bearer: [] }],
    paths,
    components: { schemas: components, securitySchemes: { bearer: { type: "http", scheme: "bearer" } } },
  };
}

function toTemplate(path: string): string {
  return path.replaceAll(
    /\*\*:(\w+)|\*\*|:(\w+)/g,
    (_match, rest?: string, name?: string) => `{${rest ?? name ?? "path"}}`,
  );
}

interface OperationContext {
  readonly plugin: string;
  readonly surface: Surface;
  readonly components: Json;
}

function toOperation(route: AnyRoute, { plugin, surface, components }: OperationContext): Json {
  const invalid =
    route.errors === undefined || route.errors === "detail" ? surfaces[surface].invalidStatus : 400;
  const failures = new Set<number>([
    ...(route.fails ?? []),
    ...(route.access === "public" ? [] : [401, 403]),
  ]);
  if (route.body || route.query || route.params) {
    failures.add(invalid);
  }
  const responses: Json = { 200: { description: "Success", ...toContent(route, components) } };
  for (const status of [...failures].toSorted((a, b) => a - b)) {
    responses[status] = { description: statusTexts[status] ?? "Failure" };
  }
  const body = toRequestBody(route, components);
  return {
    tags: [plugin],
    summary: route.summary,
    description: `Access: ${route.access}.`,
    ...(route.access === "public" ? { security: [] } : {}),
    parameters: [...toParameters(route, "path", components), ...toParameters(route, "query", components)],
    ...(body ? { requestBody: body } : {}),
    responses,
  };
}

function toContent(route: AnyRoute, components: Json): Json {
  if (route.produces) {
    return { content: { [route.produces]: {} } };
  }
  return {
    content: {
      "application/json": route.returns ? { schema: toSchema(route.returns, "output", components) } : {},
    },
  };
}

function toRequestBody(route: AnyRoute, components: Json): Json | undefined {
  if (route.upload) {
    const schema = {
      type: "object",
      required: ["file"],
      properties: { file: { type: "string", format: "binary" } },
    };
    return { required: true, content: { "multipart/form-data": { schema } } };
  }
  if (!route.body) {
    return undefined;
  }
  return {
    required: !route.bodyOptional,
    content: { "application/json": { schema: toSchema(route.body, "input", components) } },
  };
}

function toParameters(route: AnyRoute, where: "path" | "query", components: Json): Json[] {
  const declared = where === "path" ? route.params : route.query;
  const names =
    where === "path" ? [...route.path.matchAll(/:(\w+)/g)].map((match) => match[1] as string) : [];
  if (!declared) {
    return names.map((name) => ({ name, in: "path", required: true, schema: { type: "string" } }));
  }
  const schema = toSchema(declared, "input", components, false) as { properties?: Json; required?: string[] };
  return Object.entries(schema.properties ?? {}).map(([name, property]) => ({
    name,
    in: where,
    required: where === "path" || (schema.required ?? []).includes(name),
    schema: property,
  }));
}

/** A JSON Schema; parts that carry an id move into the components, once. */
function toSchema(type: z.ZodType, io: "input" | "output", components: Json, isNamed = true): Json {
  const converted = z.toJSONSchema(type, {
    io,
    unrepresentable: "any",
    reused: "inline",
    target: "draft-2020-12",
  }) as Json & { $defs?: Json };
  const {
    $defs,
    $schema: _dialect,
    ...schema
  } = JSON.parse(JSON.stringify(converted).replaceAll('"#/$defs/', '"#/components/schemas/')) as Json & {
    $defs?: Json;
  };
  for (const [name, part] of Object.entries($defs ?? {})) {
    components[name] = withoutId(part as Json);
  }
  const { id } = schema as { id?: string };
  if (!isNamed || typeof id !== "string") {
    return withoutId(schema);
  }
  components[id] = withoutId(schema);
  return { $ref: `#/components/schemas/${id}` };
}

function withoutId({ id: _id, ...schema }: Json): Json {
  return schema;
}
