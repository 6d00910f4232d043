import { runInNewContext } from "node:vm";
import ts from "typescript";
import { afterAll, beforeAll, expect, it } from "vitest";
import { root } from "#test/support/shell.ts";
import { openStage, says, type Stage } from "./examples.fixture.ts";

// The types are written by hand. These tests fail when the sandbox or its host change and the types do not.

let stage: Stage;
const files = ["functions", "functions.wire", "functions.globals"].map((name) =>
  ts.createSourceFile(
    `${name}.d.ts`,
    ts.sys.readFile(`${root}docs/${name}.d.ts`) ?? "",
    ts.ScriptTarget.ESNext,
    true,
  ),
);

beforeAll(async () => {
  stage = await openStage(["alpha"]);
});

afterAll(() => stage.close());

/** A node and all below it. */
function* walk(node: ts.Node): Generator<ts.Node> {
  yield node;
  for (const child of node.getChildren()) {
    yield* walk(child);
  }
}

/** Names of an interface's members, each once. */
function members(name: string): string[] {
  const nodes = files.flatMap((file) => [...walk(file)]);
  const found = nodes.filter(ts.isInterfaceDeclaration).find((each) => each.name.text === name);
  const names = found?.members.flatMap((member) => (member.name ? [member.name.getText()] : [])) ?? [];
  return [...new Set(names)].toSorted();
}

/** Runs `source` as an action; resolves to its answer. */
async function inside(code: string): Promise<unknown> {
  const capabilities = { fetch: ["x.test"], complete: true, storage: true };
  const content = `export const meta = { capabilities: ${JSON.stringify(capabilities)} };
    export async function action(body, ctx) { ${code} }`;
  const body = { content, hook: "action", body: { model: "alpha", messages: [says("user", "Hi")] } };
  const { result, error } = await stage.post("/api/v1/functions/dry-run", body);
  expect(error).toBeNull();
  return result;
}

it("the context has the fields that the types name", async () => {
  expect(await inside("return [...Object.keys(ctx), 'host'].toSorted();")).toEqual(members("Context"));
  expect(await inside("return Object.keys(ctx.user).toSorted();")).toEqual(members("User"));
});

it("an event's context has what the types add, and events have their fields", async () => {
  const content = `export function event(event, { host, ...ctx }) {
    console.log(JSON.stringify([Object.keys(event).toSorted(), Object.keys(ctx).toSorted(), Object.keys(ctx.app)])); }`;
  await stage.post("/api/v1/functions/create", { id: "listener", name: "Listener", content });
  await stage.post("/api/v1/functions/id/listener/toggle");
  const read = async () => (await stage.admin.call("GET /api/v1/functions/id/listener/logs")).body.lines;
  await expect.poll(async () => (await read()).length).toBeGreaterThan(0);
  const [event, context, app] = JSON.parse((await read())[0].text);
  expect(event).toEqual(members("SystemEvent"));
  expect(context).toEqual(
    [...members("Context"), ...members("EventContext")].filter((n) => n !== "host").toSorted(),
  );
  expect(app).toEqual(["name", "version", "instance_id"]);
});

it("the host has the functions that the types name, and no others", async () => {
  const names = ["log", "emit", "ask", "fetch", "complete", "storage", "query", "secret", "files"];
  const known = await inside(
    `return ${JSON.stringify(names)}.filter((name) => name in ctx.host).toSorted();`,
  );
  expect(known).toEqual(members("Host"));
  const answers = await inside(`
    await ctx.host.storage.set("k", { a: 1 });
    return [await ctx.host.storage.get("k"), await ctx.host.storage.list("k"), await ctx.host.storage.delete("k"),
      await ctx.host.storage.get("k"), await ctx.host.storage.list()];`);
  expect(answers).toEqual([{ a: 1 }, ["k"], true, null, []]);
});

it("the globals are those of the types besides the language's own", async () => {
  const declared = [...walk(files[2] as ts.Node)].flatMap((node) =>
    ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node)
      ? [node.name?.text ?? ""]
      : ts.isVariableDeclaration(node)
        ? [node.name.getText()]
        : [],
  );
  // A bare context of the same engine has the language and nothing else.
  const language: string[] = runInNewContext("Object.getOwnPropertyNames(globalThis)");
  const found = (await inside("return Object.getOwnPropertyNames(globalThis);")) as string[];
  expect(found.filter((name) => !language.includes(name) || name === "console").toSorted()).toEqual(
    declared.toSorted(),
  );
});
