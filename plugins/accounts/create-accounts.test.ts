import { expect, it, vi } from "vitest";
import { createRegistry } from "#config/registry.ts";
import { createLogger } from "#kernel/log.ts";
import { openTestDatabase } from "#storage/testing.ts";
import { createAccountsDeps } from "./create-accounts.ts";
import { config as variables } from "./config.ts";

it("outlives a change of settings that cannot be announced", async () => {
  const database = await openTestDatabase();
  const registry = createRegistry({ ENABLE_PERSISTENT_CONFIG: "false" });
  const lines: string[] = [];
  const context = {
    config: registry.declare("accounts", variables),
    use: {
      configuration: registry,
      notices: { notify: database.notify, isHearing: database.isHearing, listen: async () => {} },
      deployment: { secretKey: "a secret for tests that is long enough" },
      declarations: {},
      events: {},
    } as never,
    db: database.db as never,
    transaction: database.transaction as never,
    log: createLogger({
      level: "WARNING",
      format: "json",
      stream: { write: (line: string) => lines.push(line) },
    }),
  };
  await createAccountsDeps(context, 4);
  await database.close();
  await registry.set({ ENABLE_API_KEYS: false }, null);
  await vi.waitFor(() => expect(lines).toHaveLength(1));
  expect(lines[0]).toContain("could not be announced");
});
