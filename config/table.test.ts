import { expect, test } from "vitest";
import { core } from "./core.ts";
import { createRegistry } from "./registry.ts";
import { toConfigurationTable } from "./table.ts";
import { bool, list, oneOf, text } from "./variable.ts";

const notes = {
  enabled: bool("ENABLE_NOTES", true, { text: "Notes for a|b", key: "notes.enable", persisted: true }),
  keys: list("NOTE_KEYS", [], { text: "Keys", aliases: ["KEYS"], was: "OLD_KEYS", secret: true }),
  prompt: text("NOTE_PROMPT", "a | b\nc", { text: "Prompt" }),
};
const oauth = {
  mode: oneOf("OAUTH_MODE", ["", "strict"], "", {
    text: "Mode",
    key: "oauth.mode",
    persisted: true,
    oauth: true,
  }),
};

function print(environment: Record<string, string>) {
  const registry = createRegistry(environment);
  registry.declare("oauth", oauth);
  registry.declare("notes", notes);
  registry.declare("core", core);
  return toConfigurationTable(registry);
}

test("prints one row a variable, with the facts of its declaration", () => {
  const lines = print({}).split("\n");
  expect(lines).toContain(
    "| `ENABLE_NOTES` | `notes.enable` | bool | `true` | yes | notes | Notes for a\\|b |",
  );
  expect(lines).toContain(
    "| `NOTE_KEYS` |  | list | empty | no | notes | Keys (also read from `KEYS`; former name `OLD_KEYS`; secret) |",
  );
  expect(lines).toContain("| `NOTE_PROMPT` |  | text | `a \\| b c` | no | notes | Prompt |");
  expect(lines).toContain(
    "| `OAUTH_MODE` | `oauth.mode` | empty, `strict` | empty | yes (OAuth) | oauth | Mode |",
  );
  expect(lines.find((line) => line.includes("`INSTANCE_ID`"))).toContain(
    "| text | random UUID per start | no |",
  );
  const declared = lines.slice(0, lines.indexOf("## Not read"));
  const rows = declared.filter((line) => line.startsWith("| `"));
  expect(rows).toHaveLength(Object.keys(core).length + Object.keys(notes).length + Object.keys(oauth).length);
});

test("is the same whatever the environment says and whenever it is printed", () => {
  expect(print({ PORT: "1", ENABLE_NOTES: "False", DATABASE_PASSWORD: "hunter2" })).toBe(print({}));
});

test("puts the core first, then the plugins by name", () => {
  expect(print({}).match(/^## .*$/gm)).toEqual(["## core", "## notes", "## oauth", "## Not read"]);
});
