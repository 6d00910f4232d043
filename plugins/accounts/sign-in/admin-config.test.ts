import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRegistry } from "#config/registry.ts";
import { bool, int, text } from "#config/variable.ts";
import { createConfigStore } from "#storage/config-store.ts";
import { openTestDatabase } from "#storage/testing.ts";
import { type AdminConfig, createAdminConfig } from "./admin-config.ts";
import { config } from "../config.ts";

const notes = {
  notes: bool("ENABLE_NOTES", true, { key: "notes.enable", persisted: true, text: "Notes." }),
  files: int("FOLDER_MAX_FILE_COUNT", null, {
    key: "folders.max_file_count",
    persisted: true,
    text: "Files.",
  }),
  key: text("OPENAI_API_KEY", "", { key: "openai.api_key", persisted: true, text: "No field of the form." }),
};

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let form: AdminConfig;
const registry = createRegistry({}, { warn: () => undefined });
const events: unknown[] = [];

beforeAll(async () => {
  database = await openTestDatabase();
  registry.declare("accounts", config);
  registry.declare("notes", notes);
  await registry.attach(createConfigStore(database));
  form = createAdminConfig(registry, (event, data) => events.push({ event, data }));
});

afterAll(() => database.close());

const stored = async () =>
  await database.db.selectFrom("config").select(["key", "value", "updated_by"]).orderBy("key").execute();

describe("the general settings", () => {
  it("show a field as soon as a plugin declares its variable", () => {
    const fields = form.read();
    expect(fields).toMatchObject({ ENABLE_SIGNUP: true, ENABLE_NOTES: true, FOLDER_MAX_FILE_COUNT: null });
    expect(fields).toMatchObject({ JWT_EXPIRES_IN: "4w", API_KEYS_ALLOWED_ENDPOINTS: "" });
    expect(fields).not.toHaveProperty("ENABLE_CHANNELS");
    expect(fields).not.toHaveProperty("OPENAI_API_KEY");
  });

  it("change what is sent and leave the rest", async () => {
    const changes = {
      ENABLE_NOTES: false,
      FOLDER_MAX_FILE_COUNT: "7",
      API_KEYS_ALLOWED_ENDPOINTS: "/api/models, /api/chat",
    };
    const after = await form.update(changes, "ann");
    expect(after).toMatchObject({ ENABLE_NOTES: false, FOLDER_MAX_FILE_COUNT: 7, ENABLE_SIGNUP: true });
    expect(after["API_KEYS_ALLOWED_ENDPOINTS"]).toBe("/api/models,/api/chat");
    expect(await stored()).toContainEqual({ key: "notes.enable", value: false, updated_by: "ann" });
    expect(events).toEqual([{ event: "config.updated", data: { names: Object.keys(changes), by: "ann" } }]);
  });

  it("pass over fields of absent plugins and names that are no fields", async () => {
    const before = await stored();
    await form.update(
      { ENABLE_CHANNELS: true, OPENAI_API_KEY: "stolen", USER_PERMISSIONS: {}, __x: 1 },
      "ann",
    );
    expect(await stored()).toEqual(before);
    expect(registry.valueOf("OPENAI_API_KEY")).toBe("");
  });

  it("refuse a wrong type by name and change nothing then", async () => {
    const before = await stored();
    const attempt = form.update({ ENABLE_NOTES: true, DEFAULT_USER_ROLE: "root" }, "ann");
    await expect(attempt).rejects.toMatchObject({
      variable: "DEFAULT_USER_ROLE",
      message: expect.stringContaining("must be one of"),
    });
    expect(await stored()).toEqual(before);
  });
});
