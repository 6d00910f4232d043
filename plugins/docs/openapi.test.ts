import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { OwnedRoute } from "#kernel/http/bind.ts";
import { toOpenApi } from "./openapi.ts";
import { type AnyRoute, defineRoute } from "#kernel/http/route.ts";

// Tests look into documents of every shape.
// oxlint-disable typescript/no-explicit-any

const owned = (plugin: string, ...routes: AnyRoute[]): OwnedRoute[] =>
  routes.map((route) => ({ plugin, surface: "api", route, isEnabled: () => true, whenOff: 403 }));

const describeRoutes = (...routes: AnyRoute[]): any => toOpenApi("api", owned("p", ...routes), "1.2.3");

const Person = z.object({ name: z.string(), tags: z.array(z.string()).default([]) }).meta({ id: "Person" });
const Team = z.object({ lead: Person, size: z.int() }).meta({ id: "Team" });

test("one operation says all that its declaration says", () => {
  const route = defineRoute(
    {
      method: "POST",
      path: "/teams/:id/people/**:rest",
      summary: "Add somebody",
      access: "permission:features.teams",
      params: z.object({ id: z.uuid() }),
      query: z.object({ notify: z.string().optional(), as: z.enum(["lead", "member"]) }),
      body: Person,
      bodyOptional: true,
      returns: Team,
      fails: [409],
    },
    () => null,
  );
  const document = describeRoutes(route);
  const operation = document.paths["/api/v1/teams/{id}/people/{rest}"].post;
  expect(operation).toMatchObject({
    operationId: "post_api_v1_teams_id_people_rest",
    tags: ["p"],
    summary: "Add somebody",
    description: "Access: permission:features.teams.",
    requestBody: {
      required: false,
      content: { "application/json": { schema: { $ref: expect.any(String) } } },
    },
  });
  expect(operation.parameters).toEqual([
    { name: "id", in: "path", required: true, schema: expect.objectContaining({ format: "uuid" }) },
    { name: "rest", in: "path", required: true, schema: { type: "string" } },
    { name: "notify", in: "query", required: false, schema: { type: "string" } },
    {
      name: "as",
      in: "query",
      required: true,
      schema: expect.objectContaining({ enum: ["lead", "member"] }),
    },
  ]);
  expect(Object.keys(operation.responses)).toEqual(["200", "401", "403", "409", "422"]);
  expect(document.info.version).toBe("1.2.3");
});

describe("named schemas", () => {
  const both = defineRoute(
    { method: "PUT", path: "/team", summary: "Replace", access: "public", body: Team, returns: Team },
    () => null,
  );

  test("stand once, and twice where sent and received differ, down to what refers to them", () => {
    const { paths, components } = describeRoutes(both);
    expect(Object.keys(components.schemas)).toEqual([
      "Error.detail",
      "Person",
      "PersonInput",
      "Team",
      "TeamInput",
    ]);
    expect(components.schemas.Person.required).toEqual(["name", "tags"]);
    expect(components.schemas.PersonInput.required).toEqual(["name"]);
    expect(components.schemas.TeamInput.properties.lead).toEqual({
      $ref: "#/components/schemas/PersonInput",
    });
    expect(components.schemas.Team.properties.lead).toEqual({ $ref: "#/components/schemas/Person" });
    const { requestBody, responses } = paths["/api/v1/team"].put;
    expect(requestBody.content["application/json"].schema.$ref).toMatch(/TeamInput$/);
    expect(responses[200].content["application/json"].schema.$ref).toMatch(/Team$/);
  });

  test("stand once where both sides are alike", () => {
    const Plain = z.object({ a: z.string() }).meta({ id: "Plain" });
    const route = defineRoute(
      {
        method: "PUT",
        path: "/plain",
        summary: "Replace",
        access: "public",
        body: Plain,
        returns: z.array(Plain),
      },
      () => null,
    );
    const { components } = describeRoutes(route);
    // What is sent is read leniently, what is answered is exact.
    expect(
      Object.keys(components.schemas).filter((name) => name.startsWith("Plain")).length,
    ).toBeLessThanOrEqual(2);
  });

  test("of two plugins with one name keep apart", () => {
    const route = (path: `/${string}`, shape: z.ZodType) =>
      defineRoute({ method: "GET", path, summary: "S", access: "public", returns: shape }, () => null);
    const first = owned("first", route("/a", z.object({ a: z.string() }).meta({ id: "Same" })));
    const second = owned("second", route("/b", z.object({ b: z.string() }).meta({ id: "Same" })));
    const document: any = toOpenApi("api", [...first, ...second], "1");
    const refs = ["/api/v1/a", "/api/v1/b"].map(
      (path) => document.paths[path].get.responses[200].content["application/json"].schema.$ref,
    );
    expect(refs).toEqual(["#/components/schemas/Same", "#/components/schemas/second.Same"]);
    expect(Object.keys(document.components.schemas["second.Same"].properties)).toEqual(["b"]);
  });

  test("may refer to themselves", () => {
    const Tree: z.ZodType = z.object({ children: z.array(z.lazy(() => Tree)) }).meta({ id: "Tree" });
    const route = defineRoute(
      { method: "GET", path: "/tree", summary: "T", access: "public", returns: Tree },
      () => null,
    );
    const { components } = describeRoutes(route);
    expect(JSON.stringify(components.schemas.Tree)).toMatch(/"#\/components\/schemas\/\w+"/);
    expect(JSON.stringify(components)).not.toContain("$defs");
  });
});

test("hidden routes and those of other surfaces are left out", () => {
  const hidden = defineRoute(
    { method: "GET", path: "/h", summary: "H", access: "public", hidden: true },
    () => null,
  );
  const [elsewhere] = owned(
    "p",
    defineRoute({ method: "GET", path: "/e", summary: "E", access: "public" }, () => null),
  );
  const routes: OwnedRoute[] = [...owned("p", hidden), { ...(elsewhere as OwnedRoute), surface: "compat" }];
  expect(toOpenApi("api", routes, "1")["paths"]).toEqual({});
});

test("an error is told in the route's own shape", () => {
  const route = defineRoute(
    { method: "POST", path: "/m", summary: "M", access: "user", body: z.object({}), errors: "message" },
    () => null,
  );
  const { paths, components } = describeRoutes(route);
  expect(Object.keys(paths["/api/v1/m"].post.responses)).toEqual(["200", "400", "401", "403"]);
  expect(components.schemas["Error.message"].properties.type).toEqual({ const: "error" });
});

test("a deprecated route says so", () => {
  const spec = { method: "GET", path: "/old", summary: "Old", access: "user" } as const;
  const { paths } = describeRoutes(defineRoute({ ...spec, deprecated: "use another" }, () => 1));
  expect(paths["/api/v1/old"].get.deprecated).toBe(true);
});
