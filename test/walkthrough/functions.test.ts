import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { limits } from "#plugins/sandbox/limits.ts";
import { type App, startApp } from "#test/support/app.ts";
import { type Block, readBlocks } from "#test/support/docs-pages.ts";
import { root, runShell } from "#test/support/shell.ts";

let app: App;
let blocks: Block[];
let folder: string;
let key: string;

/** Runs the command that holds `words` as it stands on the page; a reader would only put the address in. */
async function runCommand(words: string) {
  const found = blocks.filter(({ language, text }) => language === "sh" && text.includes(words));
  expect(found, `the page has not one command with "${words}"`).toHaveLength(1);
  const command = (found[0]?.text ?? "").replaceAll("http://127.0.0.1:8080", app.url);
  ranCommands.add(found[0]?.text ?? "");
  return await runShell(command, { cwd: folder, env: { KEY: key } });
}
const ranCommands = new Set<string>();

const code = (words: string) =>
  blocks.find(({ language, text }) => language === "js" && text.includes(words))?.text ?? "";

beforeAll(async () => {
  [app, blocks, folder] = await Promise.all([
    startApp(),
    readBlocks("docs/functions.md"),
    mkdtemp(join(tmpdir(), "functions-page-")),
  ]);
  const admin = await app.admin();
  key = (await admin.call("POST /api/v1/auths/api_key")).body.api_key;
  await writeFile(join(folder, "manners.js"), code("// manners.js"));
});

afterAll(async () => {
  await app.close();
  await rm(folder, { recursive: true, force: true });
});

describe("the first function of the page", () => {
  it("is tried, saved and switched on", async () => {
    expect(JSON.parse(await runCommand("/functions/dry-run"))).toMatchObject({
      type: "filter",
      error: { kind: "thrown", message: "Please say it without shouting.", line: 12 },
    });
    expect(JSON.parse(await runCommand("/functions/create"))).toMatchObject({
      id: "manners",
      type: "filter",
      is_active: false,
      meta: { description: expect.stringContaining("shout"), has_valves: true },
    });
    expect(JSON.parse(await runCommand("/manners/toggle -H"))).toMatchObject({
      is_active: true,
      is_global: false,
    });
    expect(JSON.parse(await runCommand("/manners/toggle/global"))).toMatchObject({ is_global: true });
  });

  it("refuses and signs, as the page says", async () => {
    expect(JSON.parse(await runCommand('"content": "HELLO"}]}\''))).toMatchObject({
      detail: "Please say it without shouting.",
    });
    expect(toText(await runCommand("curl -N"))).toMatch(/\n\nYours, the machine\.$/);
  });

  it("follows its valve and tells what it wrote", async () => {
    expect(JSON.parse(await runCommand("/valves/update"))).toEqual({ signature: "Kind regards" });
    const command = blocks.find(({ text }) => text.includes("curl -N"))?.text ?? "";
    const again = command.replaceAll("http://127.0.0.1:8080", app.url);
    expect(toText(await runShell(again, { cwd: folder, env: { KEY: key } }))).toMatch(/\n\nKind regards$/);
    const { lines } = JSON.parse(await runCommand("/manners/logs"));
    expect(lines.at(-1)).toMatchObject({ level: "info", text: "a question of 26 letters" });
  });

  it("needs no other command", () => {
    const commands = blocks.filter(({ language }) => language === "sh").map(({ text }) => text);
    expect([...ranCommands].toSorted()).toEqual(commands.toSorted());
  });
});

describe("the rest of the page", () => {
  const valvesBlock = () =>
    `/// <reference path="functions.d.ts" />\n/** @satisfies {Millrace.Valves} */\n${code("listModels")}`;

  it.each<[string, () => string, string]>([
    ["a hook", () => code("// @ts-check"), "valves.keep"],
    ["valves", valvesBlock, "Small model"],
  ])("has code that fits its types: %s", (_what, toSource, words) => {
    const path = join(root, "docs/page.js");
    const host = ts.createCompilerHost({});
    const { getSourceFile, fileExists } = host;
    host.fileExists = (name) => name === path || fileExists(name);
    host.getSourceFile = (name, options) =>
      name === path ? ts.createSourceFile(name, toSource(), options) : getSourceFile(name, options);
    const options = {
      checkJs: true,
      allowJs: true,
      strict: true,
      // Readers of the page need no type for everything.
      noImplicitAny: false,
      noEmit: true,
      lib: ["lib.esnext.d.ts"],
      types: [],
    };
    const program = ts.createProgram([path], { ...options, target: ts.ScriptTarget.ESNext }, host);
    expect(program.getSourceFile(path)?.text).toContain(words);
    expect(
      ts
        .getPreEmitDiagnostics(program)
        .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n")),
    ).toEqual([]);
  });

  it("has valves that make a form, with options from the code", async () => {
    const admin = await app.admin();
    const content = `${code("listModels")}\nexport function inlet() {}`;
    const made = await admin.call("POST /api/v1/functions/create", { id: "form", name: "Form", content });
    expect(made.status).toBe(200);
    expect((await admin.call("GET /api/v1/functions/id/form/valves/spec")).body.properties).toMatchObject({
      limit: { default: 20 },
      mode: { enum: ["strict", "kind"] },
      key: { input: { type: "password" } },
      model: { input: { type: "select", options: [{ value: "small", label: "Small model" }] } },
    });
  });

  it("names the limits that there are", async () => {
    const page = await readFile(join(root, "docs/functions.md"), "utf8");
    for (const row of [
      `| source | ${limits.sourceLength / 1024} thousand characters |`,
      `| ${limits.isolateMegabytes} MB; beyond`,
      `| computing without a pause | ${limits.sliceMs / 1000} s |`,
      `| \`stream\`, a batch of chunks | ${limits.streamMs} ms; a batch of`,
      `| ${limits.answerLength / 2 ** 20} MB of JSON and ${limits.argumentsValues.toLocaleString("en")} values each |`,
      `the last ${limits.logLines} lines`,
    ]) {
      expect(page).toContain(row);
    }
  });

  it("is found by the built-in guide", async () => {
    const admin = await app.admin();
    for (const question of [
      "How do I write a function?",
      "Which host calls need capabilities?",
      "What are user valves?",
    ]) {
      const body = { model: "guide", messages: [{ role: "user", content: question }] };
      const answer = await admin.call("POST /api/chat/completions", body);
      const pages = answer.body.sources.map(
        ({ metadata }: { metadata: { source: string }[] }) => metadata[0]?.source,
      );
      expect(pages, question).toContain("docs/functions.md");
    }
  });
});

function toText(stream: string): string {
  return stream
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice(6)).choices?.[0]?.delta?.content ?? "")
    .join("");
}
