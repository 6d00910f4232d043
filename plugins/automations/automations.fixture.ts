import { sql } from "kysely";
import { expect, vi } from "vitest";
import type { AnyPlugin } from "#kernel/plugin.ts";
import { permit } from "#plugins/workspace-tools/tools.fixture.ts";
import { type Answer, type App, startApp, type TestUser } from "#test/support/app.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";

/** A platform that looks for due automations every second, with an upstream that offers `alpha`. */
export interface AutomationStage {
  readonly app: App;
  readonly upstream: Upstream;
  readonly admin: TestUser;
  /** Has the permission for automations. */
  readonly owner: TestUser;
  /** Another account with the permission, by a group of its own. */
  addOwner(): Promise<TestUser>;
  /** Calls `METHOD /path` below the routes of automations, as the owner where nobody else is named. */
  call(route: string, body?: unknown, who?: Pick<TestUser, "token">): Promise<Answer>;
  // oxlint-disable-next-line typescript/no-explicit-any -- records of the wire
  make(more?: Record<string, unknown>, who?: TestUser): Promise<any>;
  remove(id: string): Promise<void>;
  // oxlint-disable-next-line typescript/no-explicit-any -- the same
  runsOf(id: string): Promise<any[]>;
  /** Rows of a statement, beside the API: the clock of the platform cannot be set. */
  rows(query: string): Promise<Record<string, unknown>[]>;
  /** The rows of ended runs, as soon as there are some. */
  endedRuns(id: string): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

/** The form of an automation; `more` is for its `data`. */
export const automationForm = (more: Record<string, unknown> = {}) => ({
  name: "Morning",
  data: { prompt: "What is new?", model_id: "alpha", rrule: "FREQ=DAILY;BYHOUR=9", ...more },
});

export async function startAutomationStage(
  env: Record<string, string> = {},
  plugins: readonly AnyPlugin[] = [],
): Promise<AutomationStage> {
  const upstream = await startUpstream();
  upstream.models = ["alpha"];
  upstream.always(text("Nothing."));
  const app = await startApp({
    plugins,
    env: {
      OPENAI_API_BASE_URLS: upstream.url,
      OPENAI_API_KEYS: "key",
      SCHEDULER_POLL_INTERVAL: "1",
      BYPASS_MODEL_ACCESS_CONTROL: "true",
      ...env,
    },
  });
  const admin = await app.admin();
  const addOwner = async () => {
    const person = await app.user();
    await permit(app, [person], { features: { automations: true } });
    return person;
  };
  const owner = await addOwner();
  const call = (route: string, body?: unknown, { token } = owner as Pick<TestUser, "token">) => {
    const [method, path] = route.split(" ", 2) as [string, string];
    return app.call(`${method} /api/v1/automations${path}`, {
      token,
      ...(body === undefined ? {} : { body }),
    });
  };
  const rows = async (query: string) =>
    (await sql.raw<Record<string, unknown>>(query).execute(app.running.database.db)).rows;
  const until = async <T>(read: () => Promise<T[]>) =>
    await vi.waitFor(
      async () => {
        const found = await read();
        expect(found).not.toEqual([]);
        return found;
      },
      { timeout: 20_000, interval: 100 },
    );
  return {
    app,
    upstream,
    admin,
    owner,
    addOwner,
    call,
    async make(more = {}, who = owner) {
      const { body, text: said, status } = await call("POST /create", automationForm(more), who);
      expect([status, said]).toEqual([200, expect.any(String)]);
      return body;
    },
    async remove(id) {
      await call(`DELETE /${id}/delete`);
    },
    runsOf: (id) => until(async () => (await call(`GET /${id}/runs`)).body as unknown[]),
    rows,
    endedRuns: (id) => until(() => rows(`select * from automation_run where automation_id = '${id}'`)),
    async close() {
      await app.close();
      await upstream.close();
    },
  };
}
