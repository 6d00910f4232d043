import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { core } from "#config/core.ts";
import { createRegistry } from "#config/registry.ts";
import { findUnsupported } from "#config/unsupported.ts";
import type { AnyVariable, Variables } from "#config/variable.ts";
import { catalogue } from "#plugins/catalogue.ts";
import { ecosystemVariables } from "./ecosystem.fixture.ts";

// Contract D.37: what cannot be honoured is refused or told. A variable is read somewhere, or says that it has no effect.

const owners: readonly (readonly [string, Variables])[] = [
  ["core", core],
  ...catalogue.map(({ id, config = {} }) => [id, config as Variables] as const),
];
const variables = owners.flatMap(([owner, config]) =>
  Object.entries(config).map(([property, variable]) => ({
    owner,
    property,
    variable: variable as AnyVariable,
  })),
);

test("every variable is read, or says that it has no effect", async () => {
  const sources = await readSources();
  const idle = variables
    .filter(({ variable }) => variable.noEffect === undefined)
    // The tree of permissions reads all of these by their paths.
    .filter(({ variable }) => !variable.name.startsWith("USER_PERMISSIONS_"))
    .filter(({ property, variable }) => !isRead(property, variable.name, sources));
  expect(idle.map(({ owner, variable }) => `${variable.name} of ${owner}`)).toEqual([]);
});

test("a variable without effect says so in the docs, and warns where the environment sets it", async () => {
  const page = await readFile(new URL("../../docs/configuration.md", import.meta.url), "utf8");
  const silent = variables.filter(({ variable }) => variable.noEffect !== undefined);
  expect(silent.length).toBeGreaterThan(0);
  for (const { owner, variable } of silent) {
    const row = page.split("\n").find((line) => line.startsWith(`| \`${variable.name}\` `));
    expect(row).toContain(variable.noEffect);
    expect(warningsOf(owner, variable, "7")).toEqual(
      variable.kind === "bool" ? [] : [`${variable.name} has no effect: ${variable.noEffect}.`],
    );
    expect(warningsOf(owner, variable, "")).toEqual([]);
  }
});

test("a variable that such platforms know is read, or the start warns that it is not", () => {
  const declared = new Set(variables.flatMap(({ variable }) => [variable.name, ...variable.aliases]));
  const silent = [...ecosystemVariables.keys()]
    // Platforms of containers set these for every program; a wrong protocol of theirs is told.
    .filter((name) => !declared.has(name) && !name.startsWith("OTEL_"))
    .filter((name) => findUnsupported({ [name]: "7" }, () => false).length === 0);
  expect(silent).toEqual([]);
});

test("a warning says what stands in place of a variable that is not read", () => {
  const environment = {
    VECTOR_DB: "qdrant",
    OTEL_OTLP_SPAN_EXPORTER: "grpc",
    UVICORN_WORKERS: "1",
    AUDIT_LOG_LEVEL: "NONE",
  };
  expect(findUnsupported(environment, () => false)).toEqual([
    expect.stringMatching(/^VECTOR_DB has no effect: .*Postgres/),
    expect.stringMatching(/^OTEL_OTLP_SPAN_EXPORTER has no effect: /),
  ]);
  expect(findUnsupported(environment, (name) => name === "VECTOR_DB")).toHaveLength(1);
});

function warningsOf(owner: string, variable: AnyVariable, text: string): string[] {
  const warnings: string[] = [];
  const given = variable.kind === "bool" && text !== "" ? "false" : text;
  const registry = createRegistry({ [variable.name]: given }, { warn: (message) => warnings.push(message) });
  registry.declare(owner, { it: variable });
  return warnings;
}

/** A use of the property, or of the name by those who read settings of others. */
function isRead(property: string, name: string, sources: readonly string[]): boolean {
  const use = new RegExp(`\\.${property}\\b|[{,]\\s*${property}\\s*(?:[,}]|:\\s*\\w+\\s*[,}])`);
  const named = new RegExp(`["\\s](?:${name}|${name.toLowerCase()})["\\s]`);
  return sources.some((source) => use.test(source) || named.test(source));
}

/** The program's own modules without the declarations of variables. */
async function readSources(): Promise<string[]> {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const folders = ["config", "storage", "kernel", "plugins"];
  const lists = await Promise.all(
    folders.map(async (folder) => {
      const names = await readdir(`${root}${folder}`, { recursive: true });
      return names.map((name) => `${root}${folder}/${name}`);
    }),
  );
  const modules = lists.flat().filter((path) => path.endsWith(".ts") && !/\.(test|fixture)\.ts$/.test(path));
  const texts = await Promise.all(modules.map(async (path) => await readFile(path, "utf8")));
  return texts.map((text) =>
    text.replaceAll(/^\s*\w+: (?:bool|int|text|list|json|oneOf|duration)\(.*$/gm, ""),
  );
}
