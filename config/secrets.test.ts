import { expect, test } from "vitest";
import { z } from "zod";
import { createMemoryStore } from "./memory-store.fixture.ts";
import { createRegistry, type SecretCodec } from "./registry.ts";
import { json, list, text } from "./variable.ts";

const facts = { text: "A variable", persisted: true, secret: true };
const Configs = z.record(z.string(), z.looseObject({ key: z.string().optional() }));
const variables = {
  token: text("TOKEN", "", { ...facts, key: "a.token" }),
  keys: list("KEYS", [], { ...facts, key: "a.keys" }),
  configs: json("CONFIGS", {}, { ...facts, key: "a.configs", schema: Configs, secretPlaces: ["*.key"] }),
  plainText: text("NAME", "", { ...facts, key: "a.name", secret: false }),
  strict: text("STRICT", "", {
    ...facts,
    key: "a.strict",
    check: (value) => (value ? undefined : "is empty"),
  }),
};

/** Tells its keys and places apart as a real one does, in a form that tests can read. */
function codecOf(key: string): SecretCodec {
  return {
    encrypts: true,
    isSealed: (stored) => stored.startsWith("sealed:"),
    seal: (secret, place) => `sealed:${key}:${place}:${secret}`,
    open: (sealed, place) =>
      sealed.startsWith(`sealed:${key}:${place}:`) ? sealed.split(":")[3] : undefined,
  };
}

async function start(rows: Record<string, unknown>, codec?: SecretCodec, environment = {}) {
  const memory = createMemoryStore(rows);
  const warnings: string[] = [];
  const registry = createRegistry(environment, { warn: (message) => warnings.push(message) });
  const config = registry.declare("a", variables);
  await registry.attach(memory.store, codec);
  const settingOf = (name: string) => registry.describe().find((setting) => setting.name === name);
  return { ...memory, registry, config, settingOf, warnings };
}

test("every text of a secret is sealed, and of a JSON value those at its secret places", async () => {
  const { registry, stored, config } = await start({}, codecOf("one"));
  const configs = { 0: { key: "k", url: "u" }, 1: { key: "" } };
  await registry.set({ TOKEN: "t", KEYS: ["a", "", "b"], CONFIGS: configs, NAME: "n" }, "ann");
  expect(stored()).toEqual({
    "a.token": "sealed:one:a.token:t",
    "a.keys": ["sealed:one:a.keys:a", "", "sealed:one:a.keys:b"],
    "a.configs": { 0: { key: "sealed:one:a.configs:k", url: "u" }, 1: { key: "" } },
    "a.name": "n",
  });
  expect(config).toMatchObject({ token: "t", keys: ["a", "", "b"], configs });
});

test("what the environment states at the first launch is stored sealed", async () => {
  const { stored, config } = await start({}, codecOf("one"), { TOKEN: "t" });
  expect(stored()).toEqual({ "a.token": "sealed:one:a.token:t" });
  expect(config.token).toBe("t");
});

test("what was stored in clear is sealed at the start, and no one is told of a change", async () => {
  const { stored, saved, settingOf } = await start(
    { "a.token": "t", "a.keys": ["a"], "a.name": "n" },
    codecOf("one"),
  );
  expect(stored()).toEqual({
    "a.token": "sealed:one:a.token:t",
    "a.keys": ["sealed:one:a.keys:a"],
    "a.name": "n",
  });
  expect(saved).toEqual([]);
  expect(settingOf("TOKEN")?.encrypted).toBe(true);
  expect(settingOf("NAME")?.encrypted).toBeNull();
  expect(settingOf("STRICT")?.encrypted).toBeNull();
});

test("a secret of another key is empty, named, and stays stored until it is entered again", async () => {
  const rows = {
    "a.token": "sealed:other:a.token:t",
    "a.keys": ["sealed:other:a.keys:a", "sealed:one:a.keys:b"],
    "a.configs": { 0: { key: "sealed:other:a.configs:k", url: "u" } },
    "a.strict": "sealed:other:a.strict:s",
  };
  const { registry, stored, config, settingOf, warnings } = await start(rows, codecOf("one"));
  expect(config).toMatchObject({
    token: "",
    keys: ["", "b"],
    configs: { 0: { key: "", url: "u" } },
    strict: "",
  });
  const again = ["TOKEN", "KEYS", "CONFIGS", "STRICT"].map((name) => settingOf(name)?.enterAgain);
  expect(again).toEqual([[""], ["0"], ["0.key"], [""]]);
  expect(warnings.map((warning) => warning.match(/secret of (\w+)/)?.[1])).toEqual([
    "CONFIGS",
    "KEYS",
    "STRICT",
    "TOKEN",
  ]);
  expect(settingOf("TOKEN")).toMatchObject({ source: "stored", value: "" });
  await registry.set({ KEYS: ["", "c"], CONFIGS: { 0: { key: "new", url: "u" } } }, "ann");
  expect(stored()).toMatchObject({
    "a.keys": ["sealed:other:a.keys:a", "sealed:one:a.keys:c"],
    "a.configs": { 0: { key: "sealed:one:a.configs:new", url: "u" } },
  });
  expect(settingOf("CONFIGS")?.enterAgain).toEqual([]);
  await registry.reset(["TOKEN", "KEYS"], "ann");
  expect(settingOf("KEYS")).toMatchObject({ enterAgain: [], source: "default" });
});

test("a sealed text that was moved to another variable is not opened", async () => {
  const { config, settingOf } = await start({ "a.token": "sealed:one:a.keys:t" }, codecOf("one"));
  expect(config.token).toBe("");
  expect(settingOf("TOKEN")?.enterAgain).toEqual([""]);
});

test("a stored value that the environment contradicts is marked", async () => {
  const { settingOf } = await start({ "a.name": "stored", "a.token": "same" }, undefined, {
    NAME: "stated",
    TOKEN: "same",
  });
  expect(settingOf("NAME")).toMatchObject({ value: "stored", source: "stored", environmentDiffers: true });
  expect(settingOf("TOKEN")).toMatchObject({ environmentDiffers: false });
  expect(settingOf("KEYS")).toMatchObject({ environmentDiffers: false });
});
