import { afterAll, beforeAll, describe, expect, it } from "vitest";
import german from "./web/admin/texts/de.json" with { type: "json" };
import { type App, startApp, type TestUser } from "#test/support/app.ts";

let app: App;
let ann: TestUser;
let bob: TestUser;
let user: TestUser;

type Setting = Record<string, unknown> & { name: string; version: number };

beforeAll(async () => {
  app = await startApp({ env: { RESPONSE_WATERMARK: "from the environment", WEBUI_ADMIN_NAME: "Operator" } });
  ann = await app.admin();
  bob = await app.user("admin");
  user = await app.user();
});

afterAll(() => app?.close());

const settingOf = async (name: string) => {
  const { body } = await ann.call("GET /api/v1/configs/settings");
  return (body as Setting[]).find((setting) => setting.name === name) as Setting;
};
const change = async (changes: unknown[], who = ann) =>
  await who.call("PATCH /api/v1/configs/settings", { changes });
const historyOf = async (name: string) =>
  (await ann.call(`GET /api/v1/configs/settings/${name}/history`)).body;

describe("a setting", () => {
  it("says what it may be, what the environment states and who holds it", async () => {
    expect(await settingOf("RESPONSE_WATERMARK")).toMatchObject({
      owner: "settings",
      owner_title: "Settings",
      source: "stored",
      in_environment: true,
      environment_value: "from the environment",
      environment_differs: false,
      locked: null,
      version: expect.any(Number),
    });
    expect(await settingOf("DEFAULT_USER_ROLE")).toMatchObject({
      kind: "oneOf",
      choices: expect.arrayContaining(["pending", "user"]),
      in_environment: false,
      version: 0,
    });
    expect(await settingOf("WEBUI_ADMIN_NAME")).toMatchObject({
      read_only: true,
      locked: expect.stringContaining("at the start"),
    });
  });

  it("marks the drift of environment and stored value, and says which counts", async () => {
    await change([{ name: "RESPONSE_WATERMARK", value: "stored" }]);
    expect(await settingOf("RESPONSE_WATERMARK")).toMatchObject({
      value: "stored",
      environment_value: "from the environment",
      environment_differs: true,
      notices: [expect.stringContaining("in force")],
    });
    await change([{ name: "RESPONSE_WATERMARK", reset: true }]);
    expect(await settingOf("RESPONSE_WATERMARK")).toMatchObject({
      value: "from the environment",
      source: "environment",
      environment_differs: false,
    });
  });
});

describe("a change", () => {
  it("names everything that is wrong and changes nothing", async () => {
    const answer = await change([
      { name: "DEFAULT_LOCALE", value: "fr" },
      { name: "ENABLE_SIGNUP", value: "perhaps" },
      { name: "WEBUI_ADMIN_NAME", value: "x" },
      { name: "NO_SUCH_THING", value: 1 },
    ]);
    expect(answer.status).toBe(422);
    expect(answer.body.detail.map(({ loc }: { loc: string[] }) => loc[1])).toEqual([
      "ENABLE_SIGNUP",
      "WEBUI_ADMIN_NAME",
      "NO_SUCH_THING",
    ]);
    expect(await settingOf("DEFAULT_LOCALE")).toMatchObject({ value: "", source: "default" });
  });

  it("of a second administrator is refused with the first one's, and made with the new version", async () => {
    const { version } = await settingOf("DEFAULT_LOCALE");
    expect((await change([{ name: "DEFAULT_LOCALE", value: "de", version }])).status).toBe(200);
    const late = [
      { name: "DEFAULT_LOCALE", value: "fr", version },
      { name: "ENABLE_MESSAGE_RATING", value: false },
    ];
    const refused = await change(late, bob);
    expect(refused.status).toBe(409);
    expect(refused.body.detail).toEqual([
      {
        type: "changed",
        loc: ["body", "DEFAULT_LOCALE"],
        msg: `DEFAULT_LOCALE was changed by ${ann.name} since you read it.`,
        input: null,
        current: {
          value: "de",
          version: expect.any(Number),
          changed_by_name: ann.name,
          changed_at: expect.any(Number),
        },
      },
    ]);
    expect(await settingOf("ENABLE_MESSAGE_RATING")).toMatchObject({ value: true });
    const again = { name: "DEFAULT_LOCALE", value: "fr", version: refused.body.detail[0].current.version };
    expect((await change([again], bob)).status).toBe(200);
    expect(await settingOf("DEFAULT_LOCALE")).toMatchObject({ value: "fr", changed_by_name: bob.name });
  });

  it("at the same moment goes to one of two", async () => {
    const { version } = await settingOf("FOLDER_MAX_FILE_COUNT");
    const answers = await Promise.all(
      [ann, bob].map((who, turn) =>
        change([{ name: "FOLDER_MAX_FILE_COUNT", value: turn + 5, version }], who),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  });
});

describe("the history", () => {
  it("keeps who, when, before and after, and brings earlier values back", async () => {
    await change([{ name: "PENDING_USER_OVERLAY_TITLE", value: "one" }]);
    await change([{ name: "PENDING_USER_OVERLAY_TITLE", value: "two" }], bob);
    const history = await historyOf("PENDING_USER_OVERLAY_TITLE");
    expect(history).toMatchObject([
      { changed_by_name: bob.name, before: { value: "one" }, after: { value: "two" }, restorable: true },
      { changed_by_name: ann.name, before: { value: "", source: "default" }, after: { value: "one" } },
    ]);
    const restore = async (body: unknown) =>
      await ann.call("POST /api/v1/configs/settings/PENDING_USER_OVERLAY_TITLE/restore", body);
    expect((await restore({ record: history[1].id })).status).toBe(200);
    expect(await settingOf("PENDING_USER_OVERLAY_TITLE")).toMatchObject({ value: "one", source: "stored" });
    expect((await restore({ record: history[1].id, side: "before" })).status).toBe(200);
    expect(await settingOf("PENDING_USER_OVERLAY_TITLE")).toMatchObject({ value: "", source: "default" });
    expect((await restore({ record: 999_999 })).status).toBe(404);
    const stale = await restore({ record: history[0].id, version: 999_999 });
    expect(stale.status).toBe(409);
  });

  it("masks secrets, which cannot be brought back", async () => {
    await change([{ name: "OPENAI_API_KEYS", value: ["sk-first-secret-of-all"] }]);
    const answer = await ann.call("GET /api/v1/configs/settings/OPENAI_API_KEYS/history");
    expect(answer.text).not.toContain("sk-first");
    expect(answer.body[0]).toMatchObject({ after: { value: "********" }, restorable: false });
    const refused = await ann.call("POST /api/v1/configs/settings/OPENAI_API_KEYS/restore", {
      record: answer.body[0].id,
    });
    expect([refused.status, refused.body.detail]).toEqual([
      400,
      expect.stringContaining("Enter the value again"),
    ]);
  });

  it("is there for known names alone", async () => {
    expect((await ann.call("GET /api/v1/configs/settings/NOTHING/history")).status).toBe(404);
  });
});

it("tells what an import would do before anything is changed", async () => {
  const config = {
    "ui.default_locale": "it",
    ui: { enable_message_rating: true },
    "ui.enable_signup": "perhaps",
    "no.such.key": 1,
  };
  expect((await ann.call("POST /api/v1/configs/import/preview", { config })).body).toEqual({
    changes: [{ key: "ui.default_locale", name: "DEFAULT_LOCALE", before: "fr", after: "it" }],
    unchanged: ["ui.enable_message_rating"],
    refused: [
      { key: "ui.enable_signup", name: "ENABLE_SIGNUP", reason: expect.stringContaining("ENABLE_SIGNUP") },
    ],
    ignored: ["no.such.key"],
  });
  expect(await settingOf("DEFAULT_LOCALE")).toMatchObject({ value: "fr" });
});

it.each([
  "PATCH /api/v1/configs/settings",
  "GET /api/v1/configs/settings/DEFAULT_LOCALE/history",
  "POST /api/v1/configs/settings/DEFAULT_LOCALE/restore",
  "POST /api/v1/configs/import/preview",
])("%s is for administrators alone", async (route) => {
  const body = route.startsWith("GET") ? undefined : {};
  expect((await app.call(route, { body })).status).toBe(401);
  expect((await user.call(route, body)).status).toBe(403);
});

/** The sentences and headings of a setting, as the page looks them up. */
function textsOf({ text, group }: { text: string; group: string | null }): string[] {
  const [joint, permission] = [". Has no effect: ", "Built-in default of the permission"];
  const parts = text.startsWith(`${permission} `) ? [permission] : text.split(joint);
  return [...parts, ...(parts.length > 1 ? [joint] : []), ...(group === null ? [] : [group])];
}

it("settings have their sentences in German, and no German is left over", async () => {
  const { body } = await ann.call("GET /api/v1/configs/settings");
  const shown = new Set((body as Parameters<typeof textsOf>[0][]).flatMap(textsOf));
  expect([...shown].filter((text) => !(text in german))).toEqual([]);
  expect(Object.keys(german).filter((text) => !shown.has(text))).toEqual([]);
});
