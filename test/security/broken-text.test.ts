import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import type { OwnedRoute } from "#kernel/http/bind.ts";
import { actorEnvironment } from "#test/support/actors.ts";
import { type App, startApp } from "#test/support/app.ts";
import { nameOf, toUrlPath, routesOf } from "#test/support/probe.ts";

// Half a character, or a NUL, in every text of every body: no route fails, and what is refused names its field.

type Schema = Record<string, unknown>;

let app: App;
let routes: OwnedRoute[];

beforeAll(async () => {
  app = await startApp({ env: actorEnvironment });
  routes = routesOf(app);
});
afterAll(() => app?.close());

/** A body of the declared shape, with `text` wherever any text fits. */
function toSample(schema: Schema, text: string, root: Schema, depth = 0): unknown {
  if (depth > 6) {
    return undefined;
  }
  const inner = (one: unknown) => toSample((one ?? {}) as Schema, text, root, depth + 1);
  const { $ref, anyOf, oneOf, allOf, type, properties, items, format, pattern } = schema;
  if (typeof $ref === "string") {
    const name = $ref.split("/").at(-1) as string;
    return inner((root["$defs"] as Record<string, unknown>)?.[name]);
  }
  const [choice] = (anyOf ?? oneOf ?? allOf ?? []) as Schema[];
  if (choice) {
    return inner(choice);
  }
  if (schema["const"] !== undefined || Array.isArray(schema["enum"])) {
    return schema["const"] ?? (schema["enum"] as unknown[])[0];
  }
  switch (type) {
    case "object":
      return {
        ...Object.fromEntries(
          Object.entries((properties ?? {}) as Schema).map(([key, one]) => [key, inner(one)]),
        ),
        ...(schema["additionalProperties"] !== false && { extra: text }),
      };
    case "array":
      return [inner(items)];
    case "string":
      return format === "email" ? "ana@example.test" : pattern ? "pattern" : text;
    case "number":
    case "integer":
      return Number(schema["minimum"] ?? 1);
    case "boolean":
      return true;
    default:
      return text;
  }
}

it.each(["a\ud800b", "\u0000"])("%j in every text of a body makes no route fail", async (text) => {
  const admin = await app.admin();
  const bad: string[] = [];
  for (const owned of routes.filter(({ route }) => route.body !== undefined && route.method !== "GET")) {
    const { body, path, method } = owned.route;
    const schema = z.toJSONSchema(body as z.ZodType, { io: "input", unrepresentable: "any" }) as Schema;
    const params = Object.fromEntries([...path.matchAll(/:(\w+)/g)].map(([, name]) => [name as string, "x"]));
    const sample = toSample(schema, text, schema);
    const answer = await admin.call(`${method} ${toUrlPath(owned, params)}`, sample);
    if (answer.status >= 500 && answer.status < 502) {
      bad.push(`${nameOf(owned)}: ${answer.status} ${answer.text.slice(0, 200)}`);
    }
  }
  expect(bad).toEqual([]);
});

it("a NUL in the query is refused with its name, before anything is answered", async () => {
  const admin = await app.admin();
  const answer = await admin.call("GET /api/v1/chats/?query=a%00b&page=1");
  const broken = routes.filter(({ route }) => route.method === "GET" && route.query !== undefined);
  expect(answer.status).toBeLessThan(500);
  for (const owned of broken) {
    const params = Object.fromEntries(
      [...owned.route.path.matchAll(/:(\w+)/g)].map(([, name]) => [name as string, "x"]),
    );
    const { status, text } = await admin.call(`GET ${toUrlPath(owned, params)}?odd=%00`);
    expect([400, 401, 403, 404, 422], `${nameOf(owned)} ${text.slice(0, 100)}`).toContain(status);
  }
});

it("what cannot be stored is refused with its field", async () => {
  const admin = await app.admin();
  const body = { ui: { notes: ["fine", "half \ud800"] } };
  const answer = await admin.call("POST /api/v1/users/user/settings/update", body);
  expect([answer.status, answer.body.detail[0].loc]).toEqual([422, ["body", "ui", "notes", 1]]);
});
