import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createMemoryStore } from "./memory-store.fixture.ts";
import { ConfigError, createRegistry, secretMask, type SettingStore } from "./registry.ts";
import { bool, int, json, list, text } from "./variable.ts";

const variables = {
  notes: bool("ENABLE_NOTES", true, { text: "Notes", key: "notes.enable", persisted: true, group: "notes" }),
  files: int("FOLDER_MAX_FILE_COUNT", null, {
    text: "Files",
    key: "folders.max_file_count",
    persisted: true,
    min: 0,
  }),
  models: list("DEFAULT_MODELS", [], { text: "Models", key: "ui.default_models", persisted: true }),
  token: text("SEARCH_KEY", "", { text: "Key", key: "web.search.key", persisted: true, secret: true }),
  links: json("LINKS", [], {
    text: "Connections",
    key: "links",
    persisted: true,
    secret: true,
    schema: z.array(z.object({ key: z.string() })),
  }),
  poll: int("POLL", 1, { text: "Seconds" }),
};

async function start(store: SettingStore, environment: Record<string, string> = {}) {
  const warnings: string[] = [];
  const registry = createRegistry(environment, { warn: (message) => warnings.push(message) });
  const config = registry.declare("sample", variables);
  await registry.attach(store);
  const heard: string[][] = [];
  registry.onChange((names) => heard.push(names));
  return { registry, config, warnings, heard };
}

describe("setting", () => {
  test("stores all changes at once, tells listeners and shows in live values", async () => {
    const memory = createMemoryStore();
    const { registry, config, heard } = await start(memory.store);
    await registry.set(
      { ENABLE_NOTES: "false", FOLDER_MAX_FILE_COUNT: 5, DEFAULT_MODELS: "a, b" },
      "admin-1",
    );
    expect({ ...config }).toMatchObject({ notes: false, files: 5, models: ["a", "b"] });
    expect(memory.saved).toEqual([
      { keys: ["notes.enable", "folders.max_file_count", "ui.default_models"], by: "admin-1" },
    ]);
    expect(memory.stored()).toEqual({
      "notes.enable": false,
      "folders.max_file_count": 5,
      "ui.default_models": ["a", "b"],
    });
    expect(heard).toEqual([["ENABLE_NOTES", "FOLDER_MAX_FILE_COUNT", "DEFAULT_MODELS"]]);
    expect(registry.byKey("notes.enable")).toMatchObject({
      name: "ENABLE_NOTES",
      source: "stored",
      value: false,
      changedBy: "admin-1",
      changedAt: expect.any(Number),
    });
  });

  test.each<[Record<string, unknown>, string, string]>([
    [{ ENABLE_NOTES: "perhaps" }, "ENABLE_NOTES", "ENABLE_NOTES must be true or false."],
    [{ FOLDER_MAX_FILE_COUNT: -1 }, "FOLDER_MAX_FILE_COUNT", "FOLDER_MAX_FILE_COUNT must be at least 0."],
    [
      { POLL: 2 },
      "POLL",
      "POLL is read from the environment at the start and cannot be changed while running.",
    ],
    [{ NO_SUCH: 1 }, "NO_SUCH", "NO_SUCH is not a known variable."],
  ])("%j beside a good change changes nothing", async (wrong, variable, message) => {
    const memory = createMemoryStore();
    const { registry, config, heard } = await start(memory.store);
    const error = await registry
      .set({ DEFAULT_MODELS: ["a"], ...wrong }, "admin")
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ConfigError);
    expect(error).toMatchObject({ variable, message });
    expect({ ...config }).toMatchObject({ models: [], notes: true });
    expect(memory.saved).toEqual([]);
    expect(heard).toEqual([]);
  });

  test("what stays the same is neither stored nor told", async () => {
    const memory = createMemoryStore();
    const { registry, heard } = await start(memory.store);
    await registry.set({ ENABLE_NOTES: true, DEFAULT_MODELS: [] }, "admin");
    await registry.set({}, "admin");
    await registry.reset([], "admin");
    expect([memory.saved, heard]).toEqual([[], []]);
  });

  test("is decided against the stored rows, even when another process changed them unheard", async () => {
    const memory = createMemoryStore();
    const { registry, config } = await start(memory.store);
    memory.put("notes.enable", false, "somebody else");
    await registry.set({ ENABLE_NOTES: true }, "admin");
    expect(memory.stored()).toEqual({ "notes.enable": true });
    expect(config.notes).toBe(true);
  });

  test("fails as a whole when the store fails, and later changes still work", async () => {
    const memory = createMemoryStore();
    let broken = true;
    const flaky: SettingStore = {
      ...memory.store,
      change: (change, within) =>
        broken ? Promise.reject(new Error("disk full")) : memory.store.change(change, within),
    };
    const { registry, config } = await start(flaky);
    await expect(registry.set({ ENABLE_NOTES: false }, "admin")).rejects.toThrow("disk full");
    expect(config.notes).toBe(true);
    broken = false;
    await registry.set({ ENABLE_NOTES: false }, "admin");
    expect(config.notes).toBe(false);
  });

  test("needs the store first", async () => {
    const registry = createRegistry({});
    registry.declare("sample", variables);
    await expect(registry.set({ ENABLE_NOTES: false }, "admin")).rejects.toThrow("no store yet");
  });

  test("many changes at once end where the store ends", async () => {
    const memory = createMemoryStore();
    const { registry, config } = await start(memory.store);
    await Promise.all(
      Array.from({ length: 50 }, (_, index) => registry.set({ FOLDER_MAX_FILE_COUNT: index }, "a")),
    );
    expect(config.files).toBe(49);
    expect(memory.stored()).toEqual({ "folders.max_file_count": 49 });
  });
});

test("reset brings the environment's value or the default back", async () => {
  const memory = createMemoryStore();
  const { registry, config, heard } = await start(memory.store, { FOLDER_MAX_FILE_COUNT: "7" });
  await registry.set({ FOLDER_MAX_FILE_COUNT: 9, ENABLE_NOTES: false }, "admin");
  await registry.reset(["FOLDER_MAX_FILE_COUNT", "ENABLE_NOTES"], "admin");
  expect({ ...config }).toMatchObject({ files: 7, notes: true });
  expect(memory.stored()).toEqual({});
  expect(registry.byKey("folders.max_file_count")).toMatchObject({ source: "environment", changedBy: null });
  expect(heard).toHaveLength(2);
  await expect(registry.reset(["POLL"], "admin")).rejects.toThrow(ConfigError);
});

describe("another process", () => {
  test("is followed on refresh, by key or as a whole", async () => {
    const memory = createMemoryStore();
    const one = await start(memory.store);
    const two = await start(memory.store);
    await one.registry.set({ ENABLE_NOTES: false, DEFAULT_MODELS: ["a"] }, "admin-1");
    expect(two.config.notes).toBe(true);
    await two.registry.refresh(["notes.enable", "key.of.another.version"]);
    expect({ ...two.config }).toMatchObject({ notes: false, models: [] });
    await two.registry.refresh();
    expect(two.config.models).toEqual(["a"]);
    expect(two.heard).toEqual([["ENABLE_NOTES"], ["DEFAULT_MODELS"]]);
    expect(two.registry.byKey("notes.enable")?.changedBy).toBe("admin-1");
    await one.registry.reset(["ENABLE_NOTES"], "admin-1");
    await two.registry.refresh(["notes.enable"]);
    expect(two.config.notes).toBe(true);
  });

  test("is not overwritten by an older read that comes back late", async () => {
    const memory = createMemoryStore();
    const gate = Promise.withResolvers<void>();
    let reads = 0;
    const slowOnce: SettingStore = {
      ...memory.store,
      load: async (keys) => {
        const rows = await memory.store.load(keys);
        reads += 1;
        // The first read is the one of the start.
        await (reads === 2 ? gate.promise : undefined);
        return rows;
      },
    };
    const { registry, config } = await start(slowOnce);
    const early = registry.refresh();
    await expect.poll(() => reads).toBe(2);
    memory.put("notes.enable", false, null);
    const late = registry.refresh();
    // A refresh that does not wait for its turn is done after one turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    gate.resolve();
    await Promise.all([early, late]);
    expect(config.notes).toBe(false);
  });

  test("that stored nonsense is warned about once a read, and the old fallback holds", async () => {
    const memory = createMemoryStore();
    const { registry, config, warnings } = await start(memory.store);
    memory.put("folders.max_file_count", "lots", null);
    await registry.refresh(["folders.max_file_count"]);
    expect(config.files).toBe(null);
    expect(warnings).toEqual([
      "The stored value of FOLDER_MAX_FILE_COUNT must be a whole number; it is left aside.",
    ]);
  });
});

describe("listeners", () => {
  test("stop when asked to, and one that fails does not keep the others from hearing", async () => {
    const { registry, heard, warnings } = await start(createMemoryStore().store);
    const stop = registry.onChange(() => {
      throw new Error("broken listener");
    });
    await registry.set({ ENABLE_NOTES: false }, null);
    stop();
    await registry.set({ ENABLE_NOTES: true }, null);
    expect(heard).toHaveLength(2);
    expect(warnings).toEqual(["A listener to changed settings failed: broken listener"]);
  });
});

describe("secrets", () => {
  test("never appear in what is shown, and the mask sent back leaves them as they are", async () => {
    const memory = createMemoryStore();
    const { registry, config } = await start(memory.store, { SEARCH_KEY: "hunter2" });
    await registry.set({ LINKS: [{ key: "hunter3" }] }, "admin");
    expect(JSON.stringify(registry.describe())).not.toMatch(/hunter/);
    expect(registry.byKey("links")?.value).toBe(secretMask);
    await registry.set({ SEARCH_KEY: secretMask, LINKS: secretMask, ENABLE_NOTES: false }, "admin");
    expect(config.token).toBe("hunter2");
    expect(registry.valueOf("LINKS")).toEqual([{ key: "hunter3" }]);
    expect(registry.jsonOf("SEARCH_KEY")).toBe("hunter2");
  });

  test("that are not set show as empty", async () => {
    const { registry } = await start(createMemoryStore().store);
    expect(registry.byKey("web.search.key")?.value).toBe("");
    expect(registry.byKey("links")?.value).toEqual([]);
  });

  test("as a secret default are masked too", () => {
    const registry = createRegistry({});
    registry.declare("a", { key: text("K", "built-in", { text: "K", secret: true }) });
    expect(registry.describe()[0]).toMatchObject({ default: secretMask, value: secretMask });
  });
});

describe("live values", () => {
  test("cannot be changed in place, and keep apart from what was handed in", async () => {
    const { registry, config } = await start(createMemoryStore().store);
    const given = ["a"];
    await registry.set({ DEFAULT_MODELS: given }, "admin");
    given.push("b");
    expect(config.models).toEqual(["a"]);
    expect(() => config.models.push("c")).toThrow(TypeError);
    expect(config.models).toBe(config.models);
  });

  test("keep their identity while a refresh finds them unchanged", async () => {
    const { registry, config, heard } = await start(createMemoryStore({ "ui.default_models": ["a"] }).store);
    const before = config.models;
    await registry.refresh();
    expect(config.models).toBe(before);
    expect(heard).toEqual([]);
  });
});

test("settings are listed as declared with all that the settings page shows", async () => {
  const { registry } = await start(createMemoryStore().store, { POLL: "3" });
  expect(registry.describe().map((setting) => setting.name)).toEqual([
    "ENABLE_NOTES",
    "FOLDER_MAX_FILE_COUNT",
    "DEFAULT_MODELS",
    "SEARCH_KEY",
    "LINKS",
    "POLL",
  ]);
  expect(registry.describe()[5]).toMatchObject({
    name: "POLL",
    key: null,
    kind: "int",
    owner: "sample",
    group: null,
    text: "Seconds",
    persisted: false,
    secret: false,
    default: 1,
    value: 3,
    source: "environment",
    environment: 3,
    environmentDiffers: false,
    encrypted: null,
    enterAgain: [],
    readOnly: true,
    locked: expect.stringContaining("at the start"),
    version: 0,
    changedBy: null,
    changedAt: null,
  });
  expect(registry.byKey("no.such.key")).toBeUndefined();
  expect(() => registry.valueOf("NO_SUCH")).toThrow("NO_SUCH is not a known variable.");
  expect(registry.valueOr("NO_SUCH", 7)).toBe(7);
});
