import { readFile } from "node:fs/promises";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chunk } from "#test/support/upstream-chunks.ts";
import { root } from "#test/support/shell.ts";
import { folder, listExamples, openStage, readExample, says, type Stage } from "./examples.fixture.ts";

const names = await listExamples();

/** The compiler's complaints about these files, under the options of the examples' folder. */
function check(files: readonly string[]): string[] {
  const config = ts.readConfigFile(`${folder}tsconfig.json`, (path) => ts.sys.readFile(path));
  const { options, errors } = ts.parseJsonConfigFileContent(config.config, ts.sys, folder);
  const program = ts.createProgram([...files], options);
  return [...errors, ...ts.getPreEmitDiagnostics(program)].map(({ messageText }) =>
    ts.flattenDiagnosticMessageText(messageText, "\n"),
  );
}

describe("the types", () => {
  it("fit the examples, each loaded alone, as an editor does", { timeout: 120_000 }, () => {
    expect(names.length).toBeGreaterThanOrEqual(7);
    for (const name of names) {
      expect(check([`${folder}${name}.js`]), name).toEqual([]);
    }
  });

  it("find what would fail in an isolate, and know what valves are", () => {
    const problems = check([`${root}test/examples/mistakes.js`]).join("\n");
    for (const expected of [
      "Cannot find name 'process'",
      "Cannot find name 'fetch'",
      "Property 'tunrs' does not exist",
      "Type 'string' is not assignable to type 'number'",
      "Property 'keys' does not exist on type 'Storage'",
    ]) {
      expect(problems).toContain(expected);
    }
  });

  it("stand in each example, beside a description and a version", async () => {
    for (const name of names) {
      const source = await readExample(name);
      expect(source).toMatch(
        /^\/\/ @ts-check\n\/\/\/ <reference path="\.\.\/\.\.\/docs\/functions\.d\.ts" \/>\n/,
      );
      expect(source).toMatch(/^description: .{20,}$/m);
      expect(source).toMatch(/^version: 1\.0\.0$/m);
    }
  });
});

describe("each example", () => {
  let stage: Stage;
  const messages = [says("user", "Hello, I am ana@example.org"), says("assistant", "Hi", { id: "m" })];
  const hooks: Record<string, object> = {
    inlet: { model: "guide", messages: messages.slice(0, 1) },
    stream: [chunk({ content: "a" }), chunk({}, { finish: "stop" })],
    outlet: { model: "guide", messages },
    pipe: { model: "guide", messages: messages.slice(0, 1), stream: true },
    action: { model: "guide", messages },
  };
  // Routers have no models until somebody names them.
  const valves: Record<string, object> = { router: { small: "guide", large: "guide" } };

  beforeAll(async () => {
    stage = await openStage(["alpha"]);
  });

  afterAll(() => stage.close());

  it.each(names)("%s passes a dry run of its hooks", async (name) => {
    const content = await readExample(name);
    const exported = Object.keys(hooks).filter((hook) =>
      new RegExp(`^export (?:const|(?:async )?function\\*?) ${hook}\\b`, "m").test(content),
    );
    expect(exported.length).toBeGreaterThan(0);
    for (const hook of exported) {
      const body = { content, hook, body: hooks[hook], valves: valves[name] };
      const outcome = await stage.post("/api/v1/functions/dry-run", body);
      expect([hook, outcome.error]).toEqual([hook, null]);
      if (["pipe", "action", "stream"].includes(hook)) {
        expect(outcome.result, hook).not.toBeNull();
      }
    }
  });

  it.each(names)("%s shows forms for its valves and describes itself", async (name) => {
    const made = await stage.post("/api/v1/functions/create", {
      id: name,
      name,
      content: await readExample(name),
    });
    expect(made.meta).toMatchObject({ has_valves: true, description: expect.stringMatching(/.{20}/) });
    const route = `GET /api/v1/functions/id/${name}/valves/spec`;
    const { body } = await stage.admin.call(route);
    expect(Object.values(body.properties).length).toBeGreaterThan(0);
  });

  it("has a line in the page of functions", async () => {
    const page = await readFile(`${root}docs/functions.md`, "utf8");
    for (const name of names) {
      expect(page).toContain(`../examples/functions/${name}.js`);
    }
  });
});
