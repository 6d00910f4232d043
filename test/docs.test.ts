import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Surface, surfaces } from "#kernel/http/surfaces.ts";
import { type App, startApp } from "./support/app.ts";

const names = (Object.keys(surfaces) as Surface[]).filter((surface) => surfaces[surface].docs);

let app: App;

beforeAll(async () => {
  app = await startApp();
});

afterAll(() => app?.close());

/** Every value below `value` with the path to it. */
function* walk(value: unknown, path = ""): Generator<[string, unknown]> {
  yield [path, value];
  if (typeof value === "object" && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      yield* walk(inner, `${path}/${key}`);
    }
  }
}

interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  parameters: { name: string; in: string; required: boolean; schema: unknown }[];
  responses: Record<string, { description: string }>;
  requestBody?: { content: Record<string, unknown> };
}

interface OpenApi {
  openapi: string;
  info: { title: string; version: string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, unknown> };
}

describe.each(names)("the document of %s", (surface) => {
  let document: OpenApi;
  let operations: [string, string, Operation][];

  beforeAll(async () => {
    const answer = await app.call(`GET ${surfaces[surface].base}/openapi.json`);
    expect(answer.status).toBe(200);
    document = answer.body;
    operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]): [string, string, Operation] => [
        path,
        method,
        operation,
      ]),
    );
  });

  test("holds every shown route of the surface, and nothing else", () => {
    const shown = app.running.gathered.routes.filter(
      (owned) => owned.surface === surface && !owned.route.hidden,
    );
    expect(operations.length).toBe(shown.length);
    expect(operations.every(([path]) => path.startsWith(surfaces[surface].base))).toBe(true);
    expect(document.openapi).toBe("3.1.0");
    expect(document.info.title).toContain("experimental");
  });

  test("refers to nothing that it does not hold, and holds nothing that is not referred to", () => {
    const refs = [...walk(document)]
      .filter(([path, value]) => path.endsWith("/$ref") && typeof value === "string")
      .map(([, value]) => value as string);
    const components = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`);
    expect([...new Set(refs)].toSorted()).toEqual(components.toSorted());
    expect(components.filter((ref) => !/^#\/components\/schemas\/[\w.-]+$/.test(ref))).toEqual([]);
    expect(JSON.stringify(document)).not.toMatch(/\$defs|\$schema|"id":"[A-Z]/);
  });

  test("says of every operation what it is, what it takes and what it answers", () => {
    const methods = new Set(["get", "post", "put", "patch", "delete", "head"]);
    const ids = operations.map(([, , { operationId }]) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [path, method, operation] of operations) {
      const template = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      const params = operation.parameters.filter((one) => one.in === "path");
      expect(
        params.map(({ name }) => name),
        path,
      ).toEqual(template);
      expect(params.every(({ required }) => required)).toBe(true);
      expect(new Set(operation.parameters.map((one) => `${one.in} ${one.name}`)).size).toBe(
        operation.parameters.length,
      );
      expect(methods.has(method)).toBe(true);
      expect(operation.summary.length, path).toBeGreaterThan(3);
      expect(operation.tags).toHaveLength(1);
      const statuses = Object.keys(operation.responses);
      expect(statuses).toContain("200");
      expect(statuses.every((status) => /^[1-5]\d\d$/.test(status))).toBe(true);
      expect(Object.values(operation.responses).every(({ description }) => description.length > 0)).toBe(
        true,
      );
      expect(operation.requestBody === undefined || method !== "get").toBe(true);
    }
  });

  test("has no two paths that only differ in the name of a parameter", () => {
    const templates = Object.keys(document.paths).map((path) => path.replaceAll(/\{\w+\}/g, "{}"));
    expect(new Set(templates).size).toBe(templates.length);
  });
});

test("in production there is neither page nor document", async () => {
  const production = await startApp({ env: { ENV: "prod" } });
  for (const surface of names) {
    for (const path of ["/docs", "/docs/", "/docs/swagger-ui.css", "/openapi.json"]) {
      const { status } = await production.call(`GET ${surfaces[surface].base}${path}`);
      expect([surface, path, status]).toEqual([surface, path, 404]);
    }
  }
  await production.close();
});
