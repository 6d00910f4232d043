import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { core } from "#config/core.ts";
import { deployment } from "#config/deployment.ts";
import { createRegistry } from "#config/registry.ts";
import type { AnyVariable, VariableKind, Variables } from "#config/variable.ts";
import { catalogue } from "#plugins/catalogue.ts";
import { ecosystemVariables, otherDefaults } from "./ecosystem.fixture.ts";
import { type ExpectedVariable, specifiedVariables } from "./variables.fixture.ts";

const registry = createRegistry({});
registry.declare("core", core);
registry.declare("deployment", deployment);
for (const plugin of catalogue) {
  registry.declare(plugin.id, (plugin.config ?? {}) as Variables);
}
const declared = new Map(registry.declarations().map((entry) => [entry.variable.name, entry]));

/** Types in code by the specification's word: a choice or a list is a text in the environment. */
const kinds: Record<string, readonly VariableKind[]> = {
  bool: ["bool"],
  int: ["int"],
  str: ["text", "list", "oneOf"],
  json: ["json"],
  duration: ["duration"],
  "bool or str": ["boolOrText"],
};

const present = specifiedVariables.filter(({ owner }) => owner !== "not yet");
const missing = specifiedVariables.filter(({ owner }) => owner === "not yet");

test("the fixture names every variable once", () => {
  const names = specifiedVariables.map(({ name }) => name);
  expect(names.length).toBe(111);
  expect(new Set(names).size).toBe(names.length);
  expect(names.filter((name) => ecosystemVariables.has(name))).toEqual([]);
});

describe("a specified variable is declared as specified", () => {
  test.each(present.map((expected) => [expected.name, expected] as const))("%s", (name, expected) => {
    const entry = declared.get(name);
    expect(entry, "is declared").toBeDefined();
    const { owner, variable } = entry as { owner: string; variable: AnyVariable };
    expect(kinds[expected.type]).toContain(variable.kind);
    expect({ owner, persisted: variable.persisted, default: defaultOf(variable) }).toEqual({
      owner: expected.owner,
      persisted: expected.persisted,
      default: expected.default,
    });
    expect(notesOf(variable, expected)).toEqual(expected.notes);
  });
});

// When one of these fails, its variable has come: name its owner in the fixture.
test("a variable that is not yet there is really not there", () => {
  expect(missing.filter(({ name }) => declared.has(name))).toEqual([]);
});

test("a variable of the ecosystem keeps its default, or says why not", () => {
  const wrong: string[] = [];
  for (const [name, expected] of ecosystemVariables) {
    const variable = declared.get(name)?.variable;
    const wanted = otherDefaults[name]?.default ?? expected;
    if (variable && defaultOf(variable) !== wanted) {
      wrong.push(`${name} is ${defaultOf(variable)}, not ${wanted}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(Object.keys(otherDefaults).filter((name) => !declared.has(name))).toEqual([]);
});

test("every declared variable stands in docs/configuration.md", async () => {
  const page = await readFile(new URL("../../docs/configuration.md", import.meta.url), "utf8");
  const absent = [...declared.keys()].filter((name) => !page.includes(`| \`${name}\` |`));
  expect(absent).toEqual([]);
});

function defaultOf(variable: AnyVariable): string {
  if (variable.computed) {
    return `[${variable.computed.shown}]`;
  }
  const json: unknown = variable.toJson(variable.default);
  const value = variable.kind === "list" && Array.isArray(json) ? json.join(",") : json;
  if (value === null || value === "") {
    return "empty";
  }
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The notes of the specification that the declaration repeats. */
function notesOf(variable: AnyVariable, { notes }: ExpectedVariable): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.keys(notes).map((note) => [note, note === "key" ? variable.key : variable.was]),
  );
}
