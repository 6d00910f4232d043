import { afterEach, expect, it, vi } from "vitest";
import { createLogger } from "#kernel/log.ts";
import { type ModuleShape, type Sandbox, SandboxError } from "#kernel/sandbox.ts";
import { createActiveFunctions } from "./active.ts";
import type { FunctionRow } from "../library/function-store.ts";

afterEach(() => void vi.useRealTimers());

const shape: ModuleShape = { functions: ["inlet"], data: {}, header: {}, tools: {}, comments: {} };
const row = (id: string) =>
  ({ id, user_id: "ana", name: id, content: id, is_global: true, created_at: 0 }) as FunctionRow;

it("tries again what was missed, whatever an overtaken reading still does", async () => {
  vi.useFakeTimers();
  const readings: ((rows: FunctionRow[]) => void)[] = [];
  const loading = new Map<string, PromiseWithResolvers<ModuleShape>>();
  const sandbox = {
    load({ source }: { source: string }) {
      const load = Promise.withResolvers<ModuleShape>();
      loading.set(source, load);
      return load.promise;
    },
  } as unknown as Sandbox;
  const functions = createActiveFunctions({
    sandbox,
    log: createLogger({ level: "ERROR", format: "json", stream: { write: () => undefined } }),
    list: () => new Promise((resolve) => void readings.push(resolve)),
    openValves: () => ({}),
    failed: async () => undefined,
  });
  functions.refresh();
  functions.refresh();
  readings[1]?.([row("missed"), row("slow")]);
  await vi.advanceTimersByTimeAsync(0);
  loading.get("missed")?.reject(new SandboxError("timeout", "There was no time."));
  await vi.advanceTimersByTimeAsync(0);
  readings[0]?.([]);
  await vi.advanceTimersByTimeAsync(0);
  loading.get("slow")?.resolve(shape);
  await vi.advanceTimersByTimeAsync(0);
  expect([...(functions.now()?.byId.keys() ?? [])]).toEqual(["slow"]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(readings).toHaveLength(3);
});
