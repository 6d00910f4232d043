import { readdir, readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { App } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { as, requireOk } from "../tools.fixture.ts";

const folder = new URL("../../../examples/tools/", import.meta.url);
let app: App;
beforeAll(async () => void (app = await useApp()));
afterAll(() => app?.close());

it("every example loads and describes its functions, and those that need no other server answer", async () => {
  const call = as(app, await app.admin());
  const contents = new Map<string, string>();
  for (const file of await readdir(folder)) {
    const content = await readFile(new URL(file, folder), "utf8");
    contents.set(file, content);
    const { body } = await requireOk(call("POST /api/v1/tools/check", { content }));
    expect([file, body.error]).toEqual([file, null]);
    expect(body.specs.every(({ description }: { description: string }) => description !== "")).toBe(true);
  }
  const attempt = async (file: string, name: string, parameters: object) => {
    const form = { content: contents.get(file), name, parameters };
    return (await requireOk(call("POST /api/v1/tools/try", form))).body;
  };
  const miles = await attempt("convert_units.js", "convert_units", { value: 12, from: "km", to: "mi" });
  expect(miles).toMatchObject({ text: '{"value":7.456,"unit":"mi"}', error: null });
  const celsius = await attempt("convert_units.js", "convert_units", { value: 212, from: "f", to: "c" });
  expect(celsius.text).toBe('{"value":100,"unit":"c"}');
  const list = await attempt("shared_list.js", "list_entries", {});
  expect(list).toMatchObject({ text: "[]", embeds: [expect.stringContaining("Shopping")] });
});
