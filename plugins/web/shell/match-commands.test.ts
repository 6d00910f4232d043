import { expect, it } from "vitest";
import type { Command } from "../kit/web.ts";
import { grouped, matching } from "./match-commands.ts";

const command = (id: string, title: string, group: string, keywords = ""): Command => ({
  id,
  title,
  group,
  keywords,
  run: () => undefined,
});
const commands = [
  command("1", "Account", "Settings", "password"),
  command("2", "New chat", "Chats"),
  command("3", "Look", "Settings", "theme dark"),
];
const ids = (found: readonly Command[]) => found.map(({ id }) => id);

it("finds by every word, in title, group and keywords", () => {
  expect(ids(matching(commands, ""))).toEqual(["1", "2", "3"]);
  expect(ids(matching(commands, " settings  DARK "))).toEqual(["3"]);
  expect(ids(matching(commands, "settings chat"))).toEqual([]);
});

it("keeps the order of groups and of their commands", () => {
  expect(grouped(commands).map(({ title, commands: members }) => [title, ids(members)])).toEqual([
    ["Settings", ["1", "3"]],
    ["Chats", ["2"]],
  ]);
});
