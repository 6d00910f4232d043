import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { createFunctionTypes } from "./language-service.ts";

const root = fileURLToPath(new URL("../../../../../", import.meta.url));
const read = (folder: string, wanted: RegExp) =>
  readdirSync(root + folder)
    .filter((name) => wanted.test(name))
    .map((name) => [name, readFileSync(`${root}${folder}/${name}`, "utf8")] as const);
const types = createFunctionTypes(
  new Map([
    ...read("docs", /^functions.*\.d\.ts$/),
    ...read("node_modules/typescript/lib", /^lib\.(es|decorators).*\.d\.ts$/),
  ]),
);

test.each(read("examples/functions", /\.js$/))(
  "%s has no type errors, without its reference",
  (_name, text) => {
    expect(types.check(text.replace(/^\/\/\/ <reference.*$/m, ""))).toEqual([]);
  },
);

describe("code that is typed", () => {
  const typed = (line: string) =>
    `/** @type {Millrace.Inlet} */\nexport function inlet(body, ctx) {\n  ${line}\n  return body;\n}\n`;

  test("is told where a type does not fit", () => {
    expect(types.check(typed("ctx.user?.nmae;"))).toMatchObject([
      { line: 3, column: 13, length: 4, severity: "warning", message: expect.stringContaining("nmae") },
    ]);
  });

  test("is completed from the declarations", () => {
    const text = typed("ctx.");
    const labels = types.complete(text, text.indexOf("ctx.\n") + 4).map(({ label }) => label);
    expect(labels).toEqual(expect.arrayContaining(["user", "host", "metadata", "valves"]));
    expect(types.complete("Mill", 4).map(({ label }) => label)).not.toContain("document");
  });

  test("may be TypeScript, and plain code needs no types", () => {
    expect(types.check("export function inlet(body: { a: number }) { return body.a.toFixed(); }")).toEqual(
      [],
    );
    expect(types.check("export function inlet(body: { a: number }) { return body.b; }")).toHaveLength(1);
    expect(types.check("export function inlet(body) { return { ...body, x: 1 }; }")).toEqual([]);
  });
});
