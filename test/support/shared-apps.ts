import { setTimeout as pause } from "node:timers/promises";
import { vi } from "vitest";
import { core } from "#config/core.ts";
import { readVariable } from "#config/environment.ts";
import type { AnyVariable, Environment } from "#config/variable.ts";
import { catalogue } from "#plugins/catalogue.ts";
import { type App, type AppOptions, startApp } from "./app.ts";
import { beforeClockIsHeld } from "./clock/held-clock.ts";
import { shareInWorker } from "./leaks/leaks.ts";

// A start costs half a second of processor time, so suites of one worker share running platforms. Settings that
// administrators can change are set for a suite and reset after it; other variables make another platform.

interface SharedApp {
  /** The variables that it was started with. */
  readonly key: string;
  readonly app: App;
  /** Its state when it had started. */
  readonly state: string;
}

/** Platforms that no suite uses now, the one that was used last at the end. */
const free: SharedApp[] = [];

/** More are not kept: each polls its jobs. */
const mostFree = 3;

/**
 * A running platform that other suites of this worker use before and after, so every account has to be a fresh one. A
 * suite starts its own with `startApp` when it needs an empty platform or the only administrator, counts rows of
 * everybody, adds plugins, or stops the server.
 */
export async function useApp({ env = {} }: Pick<AppOptions, "env"> = {}): Promise<App> {
  if (vi.isFakeTimers()) {
    // Nothing of it would go on when the suite lets go of its clock.
    return await startApp({ env });
  }
  const { settings, fixed } = split(env);
  const key = JSON.stringify(Object.entries(fixed).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  const at = free.findIndex((each) => each.key === key);
  const shared = at < 0 ? await start(key, fixed) : (free.splice(at, 1)[0] as SharedApp);
  await apply(settings, shared.app);
  return { ...shared.app, close: () => release(shared) };
}

async function apply(settings: Record<string, unknown>, { running, admin, call }: App): Promise<void> {
  await running.registry.set(settings, null);
  if (Object.keys(settings).some((name) => name.endsWith("_BASE_URLS"))) {
    // The same address may offer other models than it did to the suite before.
    const { token } = await admin();
    await call("GET /api/models?refresh=true", { token });
  }
}

async function start(key: string, env: Record<string, string>): Promise<SharedApp> {
  const app = await shareInWorker(() => startApp({ env }));
  return { key, app, state: await readState(app) };
}

const changeable: readonly AnyVariable[] = [core, ...catalogue.map(({ config }) => config ?? {})]
  .flatMap((variables) => Object.values(variables) as AnyVariable[])
  .filter(({ persisted, oauth }) => persisted && !oauth);

/** Parts variables into settings, by the name and with the value of their declaration, and those that are fixed at the start. */
function split(env: Environment): { settings: Record<string, unknown>; fixed: Record<string, string> } {
  const fixed = { ...env } as Record<string, string>;
  const settings: Record<string, unknown> = {};
  for (const variable of changeable) {
    const { value, source } = readVariable(variable, env, () => {});
    if (source === "environment") {
      settings[variable.name] = variable.toJson(value);
      [variable.name, ...variable.aliases, variable.was ?? ""].forEach((name) => delete fixed[name]);
    }
  }
  return { settings, fixed };
}

/** Ends a suite's use; fails when an answer to it did not fit its declared shape. */
async function release(shared: SharedApp): Promise<void> {
  const { app, state } = shared;
  const { registry } = app.running;
  const changed = registry.describe().filter(({ source }) => source === "stored");
  await registry.reset(
    changed.map(({ name }) => name),
    null,
  );
  if ((await isIdle(app)) && (await readState(app)) === state) {
    free.push(shared);
    app.requireDeclaredAnswers();
    await keep(mostFree);
  } else {
    await app.close();
  }
}

async function keep(most: number): Promise<void> {
  while (free.length > most) {
    await free.shift()?.app.close();
  }
}

// What such a platform does again and again would set its next timer on that clock, and stop with it.
beforeClockIsHeld(() => keep(0));

/** Waits a moment for replies and jobs to end: the next suite would wait behind them. */
async function isIdle({ running }: App): Promise<boolean> {
  const work = `
    select 1 from chat_run
    union all select 1 from jobs.job where state <= 'active' and start_after <= now() limit 1`;
  for (let tries = 0; tries < 10; tries += 1) {
    const { rows } = await running.database.query(work);
    if (rows.length === 0) {
      return true;
    }
    await pause(50);
  }
  return false;
}

/** Describes what reaches every account. A suite that leaves it changed was the last of its platform. */
async function readState({ running }: App): Promise<string> {
  const { rows } = await running.database.query(`
    select 'setting' as kind, key as id, md5(value::text) as state from config
    union all select 'function', id, md5(row_to_json(f)::text) from function f
    union all select 'model', id, updated_at::text from model
    union all select 'webhook', id::text, '' from event_webhook
    order by kind, id`);
  return JSON.stringify(rows);
}
