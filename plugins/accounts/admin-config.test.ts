import { describe, expect, it } from "vitest";
import { createRegistry, type StoredSetting } from "#config/registry.ts";
import { bool, int, text } from "#config/variable.ts";
import { createAdminConfig } from "./admin-config.ts";
import { config } from "./config.ts";

const notes = {
  notes: bool("ENABLE_NOTES", true, { key: "notes.enable", persisted: true, text: "Notes." }),
  files: int("FOLDER_MAX_FILE_COUNT", null, {
    key: "folders.max_file_count",
    persisted: true,
    text: "Files.",
  }),
  key: text("OPENAI_API_KEY", "", { key: "openai.api_key", persisted: true, text: "No field of the form." }),
};

async function open() {
  const registry = createRegistry({}, { warn: () => undefined });
  const values = { ...registry.declare("accounts", config), ...registry.declare("notes", notes) };
  const rows = new Map<string, StoredSetting>();
  await registry.attach({
    load: async (keys) => [...rows.values()].filter(({ key }) => keys?.includes(key) ?? true),
    save: async (entries, by) => {
      for (const { key, value } of entries) {
        rows.set(key, { key, value, updatedAt: 1, updatedBy: by });
      }
    },
    remove: async (keys) => void (keys === "all" ? rows.clear() : keys.forEach((key) => rows.delete(key))),
  });
  const events: unknown[] = [];
  const form = createAdminConfig(registry, (event, data) => events.push({ event, data }));
  return { form, registry, rows, events, values };
}

describe("the general settings", () => {
  it("show a field as soon as a plugin declares its variable", async () => {
    const { form } = await open();
    const fields = form.read();
    expect(fields).toMatchObject({ ENABLE_SIGNUP: true, ENABLE_NOTES: true, FOLDER_MAX_FILE_COUNT: null });
    expect(fields).toMatchObject({ JWT_EXPIRES_IN: "4w", API_KEYS_ALLOWED_ENDPOINTS: "" });
    expect(fields).not.toHaveProperty("ENABLE_CHANNELS");
    expect(fields).not.toHaveProperty("OPENAI_API_KEY");
  });

  it("change what is sent and leave the rest", async () => {
    const { form, rows, events } = await open();
    const changes = {
      ENABLE_NOTES: false,
      FOLDER_MAX_FILE_COUNT: "7",
      API_KEYS_ALLOWED_ENDPOINTS: "/api/models, /api/chat",
    };
    const after = await form.update(changes, "ann");
    expect(after).toMatchObject({ ENABLE_NOTES: false, FOLDER_MAX_FILE_COUNT: 7, ENABLE_SIGNUP: true });
    expect(after["API_KEYS_ALLOWED_ENDPOINTS"]).toBe("/api/models,/api/chat");
    expect(rows.get("notes.enable")).toMatchObject({ value: false, updatedBy: "ann" });
    expect(events).toEqual([{ event: "config.updated", data: { names: Object.keys(changes), by: "ann" } }]);
  });

  it("pass over fields of absent plugins and names that are no fields", async () => {
    const { form, rows, values } = await open();
    await form.update(
      { ENABLE_CHANNELS: true, OPENAI_API_KEY: "stolen", USER_PERMISSIONS: {}, __x: 1 },
      "ann",
    );
    expect([rows.size, values.key]).toEqual([0, ""]);
  });

  it("refuse a wrong type by name and change nothing then", async () => {
    const { form, rows } = await open();
    const attempt = form.update({ ENABLE_NOTES: false, DEFAULT_USER_ROLE: "root" }, "ann");
    await expect(attempt).rejects.toMatchObject({
      code: "unprocessable",
      detail: [{ loc: ["body", "DEFAULT_USER_ROLE"], msg: expect.stringContaining("must be one of") }],
    });
    expect(rows.size).toBe(0);
  });
});
