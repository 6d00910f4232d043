import { afterAll, beforeAll, expect, test } from "vitest";
import { createLogger } from "#kernel/log.ts";
import type { DeclaredPage } from "#kernel/services.ts";
import { createTestFolder, removeTestFolder } from "#test/support/test-folder.ts";
import { warnOfMissingModules } from "./modules.ts";

let folder: string;

beforeAll(
  async () => void (folder = await createTestFolder({ "web/tide.js": "export const mount = () => {};" })),
);
afterAll(() => removeTestFolder(folder));

function toDeclared(id: string, more: Partial<DeclaredPage> = {}): DeclaredPage {
  const page = { id, path: "/tide", title: "Tide", place: "main", access: "user" } as const;
  return { plugin: "tide", page, folder, isEnabled: () => true, ...more };
}

test("a page without its module is logged with plugin and page, others are not", () => {
  const lines: string[] = [];
  const stream = { write: (line: string) => void lines.push(line) };
  const log = createLogger({ level: "INFO", format: "json", stream });
  const pages = [
    toDeclared("tide"),
    toDeclared("tide.gone"),
    toDeclared("tide.off", { isEnabled: () => false }),
    toDeclared("tide.own", { folder: undefined }),
  ];
  warnOfMissingModules(pages, log);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ plugin: "tide", page: "tide.gone" }]);
});
