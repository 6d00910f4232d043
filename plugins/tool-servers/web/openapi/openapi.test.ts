import { describe, expect, it } from "vitest";
import { document as workshop } from "../../openapi/service.fixture.ts";
import { readDocument } from "./document.ts";
import { type Operation, toOperations } from "./operations.ts";
import { toBase, toRequest } from "./request.ts";

const responses = { 200: { description: "ok" } };
const read = async (source: unknown) => toOperations(await readDocument(source));
const document = (paths: object, more: object = {}) => ({
  openapi: "3.0.3",
  info: { title: "T", version: "1" },
  paths,
  ...more,
});
const one = async (operation: object, { path = "/x", method = "get", more = {} } = {}): Promise<Operation> =>
  (await read(document({ [path]: { [method]: { operationId: "f", responses, ...operation } } }, more)))[0]!;
const param = (name: string, schema: object, more: object = {}) => ({ name, in: "query", schema, ...more });

describe("the functions of a document", () => {
  it("have all parameters in one object, and names where the document gives none", async () => {
    const functions = await read(workshop());
    expect(functions.map(({ name, method, isReadOnly }) => [name, method, isReadOnly])).toEqual([
      ["get_item", "GET", true],
      ["put_item", "PUT", false],
      ["answer", "POST", false],
      ["delete_plain", "DELETE", false],
    ]);
    expect(functions[0]!.parameters).toEqual({
      type: "object",
      properties: {
        id: { type: "string" },
        tags: { type: "array", items: { type: "string" } },
        filter: { type: "object" },
        "x-trace": { type: "string" },
      },
      required: ["id"],
    });
    expect(functions[1]!.parameters["properties"]).toEqual({
      id: { type: "string" },
      body_id: { type: "integer" },
      name: { type: "string" },
      parts: { type: "array", items: { $ref: "#/$defs/Item" } },
      // Another document: never read, so anything will do.
      secret: {},
    });
    expect(functions[1]!.parameters["required"]).toEqual(["id", "name"]);
    expect(JSON.stringify(functions[1]!.parameters["$defs"])).toContain('"#/$defs/Item"');
    expect(functions[3]!.isConsequential).toBe(true);
  });

  it("are written in today's JSON Schema, whatever version the document has", async () => {
    const schema = {
      type: "integer",
      nullable: true,
      minimum: 1,
      exclusiveMinimum: true,
      example: 3,
      xml: {},
    };
    const { parameters } = await one({ parameters: [param("n", schema, { description: "How many" })] });
    expect(parameters["properties"]).toEqual({
      n: { type: ["integer", "null"], exclusiveMinimum: 1, description: "How many" },
    });
  });

  it("join the parts of a body, and take one that is no object as a whole", async () => {
    const schemas = { A: { type: "object", required: ["a"], properties: { a: { type: "string" } } } };
    const allOf = [
      { $ref: "#/components/schemas/A" },
      { type: "object", properties: { b: { enum: [1, 2] } } },
    ];
    const content = (schema: object) => ({
      requestBody: { required: true, content: { "application/json": { schema } } },
    });
    const joined = await one(content({ allOf }), { method: "post", more: { components: { schemas } } });
    expect(joined.parameters).toMatchObject({
      properties: { a: { type: "string" }, b: { enum: [1, 2] } },
      required: ["a"],
    });
    const list = await one(content({ type: "array", items: { type: "number" } }), { method: "post" });
    expect(list.parameters).toMatchObject({ properties: { body: { type: "array" } }, required: ["body"] });
    expect(toRequest(list, "http://h", { body: [1, 2] }).body).toBe("[1,2]");
  });

  it("stay small where a document was written to grow without end", async () => {
    const schemas = Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => {
        const next = { $ref: `#/components/schemas/S${at + 1}` };
        return [`S${at}`, { type: "object", properties: { a: next, b: next } }];
      }),
    );
    const paths = Object.fromEntries(
      Array.from({ length: 1000 }, (_, at) => [
        `/p${at}`,
        { get: { parameters: [param("q", { $ref: "#/components/schemas/S0" })], responses } },
      ]),
    );
    const started = performance.now();
    const functions = await read(document(paths, { components: { schemas } }));
    expect(functions).toHaveLength(500);
    expect(JSON.stringify(functions[0]).length).toBeLessThan(200_000);
    expect(performance.now() - started).toBeLessThan(5000);
  });

  it.each([
    ["a page", "<html></html>", /neither|not an object/],
    ["another version", { swagger: "2.0", paths: {} }, /Swagger 2.0/],
    ["a list", "[]", /not an object/],
    ["broken text", "{a: [", /neither JSON nor YAML/],
  ])("are refused from %s", async (_name, source, words) => {
    await expect(readDocument(source)).rejects.toThrow(words);
  });

  it("are read from YAML as well", async () => {
    const yaml =
      "openapi: 3.0.0\ninfo: {title: Y}\npaths:\n  /a/{b}:\n    get:\n      parameters: [{name: b, in: path, required: true}]";
    expect((await read(yaml)).map(({ name }) => name)).toEqual(["get_a_b"]);
  });
});

describe("a call", () => {
  const list = ["a b", "c,d"];
  const map = { x: 1, y: "z&" };
  it.each([
    ["form", undefined, list, "v=a%20b&v=c%2Cd"],
    ["form", false, list, "v=a%20b,c%2Cd"],
    ["spaceDelimited", false, list, "v=a%20b%20c%2Cd"],
    ["pipeDelimited", false, list, "v=a%20b%7Cc%2Cd"],
    ["form", undefined, map, "x=1&y=z%26"],
    ["form", false, map, "v=x,1,y,z%26"],
    ["deepObject", true, { x: { y: [1, 2] } }, "v%5Bx%5D%5By%5D=1&v%5Bx%5D%5By%5D=2"],
    ["form", undefined, true, "v=true"],
  ])("writes the query in the style %s (explode %s)", async (style, explode, value, query) => {
    const parameter = param("v", {}, { style, ...(explode !== undefined && { explode }) });
    expect(toRequest(await one({ parameters: [parameter] }), "http://h/base/", { v: value }).url).toBe(
      `http://h/base/x?${query}`,
    );
  });

  it.each([
    ["simple", false, list, "/p/a%20b,c%2Cd"],
    ["label", true, list, "/p/.a%20b.c%2Cd"],
    ["matrix", true, list, "/p/;v=a%20b;v=c%2Cd"],
    ["matrix", false, map, "/p/;v=x,1,y,z%26"],
    ["simple", true, map, "/p/x=1,y=z%26"],
  ])("writes the path in the style %s (explode %s)", async (style, explode, value, path) => {
    const parameters = [{ name: "v", in: "path", required: true, style, explode, schema: {} }];
    expect(toRequest(await one({ parameters }, { path: "/p/{v}" }), "http://h", { v: value }).url).toBe(
      `http://h${path}`,
    );
  });

  it("never leaves the operation's path, and sends no header that it may not", async () => {
    const parameters = [
      { name: "v", in: "path", required: true, schema: {} },
      { name: "x-note", in: "header", schema: {} },
    ];
    const operation = await one({ parameters }, { path: "/p/{v}/end" });
    expect(toRequest(operation, "http://h", { v: "../../etc" }).url).toBe("http://h/p/..%2F..%2Fetc/end");
    for (const v of ["..", ".", ""]) {
      expect(() => toRequest(operation, "http://h", { v })).toThrow(/neither empty nor dots/);
    }
    expect(() => toRequest(operation, "http://h", {})).toThrow(/"v" is missing/);
    expect(() => toRequest(operation, "http://h", { v: "a", "x-note": "a\r\nb: c" })).toThrow(/line breaks/);
  });

  it("sends forms as forms", async () => {
    const schema = { type: "object", properties: { a: { type: "string" }, b: { type: "array" } } };
    const form = (type: string) =>
      one({ requestBody: { content: { [type]: { schema } } } }, { method: "post" });
    const encoded = toRequest(await form("application/x-www-form-urlencoded"), "http://h", {
      a: "1 2",
      b: [3, { c: 4 }],
    });
    expect(encoded.body).toBe("a=1+2&b=3&b=%7B%22c%22%3A4%7D");
    const parts = toRequest(await form("multipart/form-data"), "http://h", { a: "1" });
    expect([(parts.body as FormData).get("a"), parts.contentType]).toEqual(["1", undefined]);
  });

  it.each([
    ["http://h", "/api/v1", "http://h/api/v1"],
    ["http://h/tools", "/api/v1", "http://h/tools"],
    ["http://h", "http://elsewhere/api", "http://h"],
    ["http://h", "", "http://h"],
  ])("goes to %s when the document says %s", (url, stated, base) => {
    expect(toBase(url, stated)).toBe(base);
  });
});
