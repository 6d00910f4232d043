import { expect, test } from "vitest";
import type { SystemEvent } from "#kernel/events.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { events } from "#kernel/services.ts";
import { startApp } from "#test/support/app.ts";

test("the server tells of its own start and stop, and of changed connections", async () => {
  const heard: SystemEvent[] = [];
  const listener = definePlugin({
    id: "listener",
    title: "Listener",
    uses: { events },
    setup({ use }) {
      use.events.onSystemEvent((event) => void heard.push(event));
      return {};
    },
  });
  const app = await startApp({ plugins: [listener] });
  const admin = await app.admin();
  const saved = await admin.call("POST /compat/config/update", {
    OPENAI_API_BASE_URLS: ["http://127.0.0.1:9/v1"],
    OPENAI_API_KEYS: ["sk-a-secret-of-the-upstream"],
  });
  expect(saved.status).toBe(200);
  await app.close();

  const names = heard.map(({ event }) => event);
  expect(names.filter((name) => name.startsWith("system."))).toEqual([
    "system.startup.started",
    "system.startup.completed",
    "system.shutdown.started",
    "system.shutdown.completed",
  ]);
  const [changed] = heard.filter(({ event }) => event === "config.connections.updated");
  expect(changed).toMatchObject({ actor: { id: admin.id }, data: { connections: 1 } });
  expect(JSON.stringify(heard)).not.toContain("sk-a-secret");
});
