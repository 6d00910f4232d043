import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { credentialOf, rememberCredential } from "#kernel/access/credentials.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { createLogger } from "#kernel/log.ts";
import { createHostFactory } from "./create-host.ts";
import type { UserEvent } from "./user-events.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

const caller: Principal = {
  userId: "u",
  role: "user",
  name: "Ann",
  email: "ann@example.com",
  groupIds: [],
  permissions: {},
  credential: "session",
  session: { id: "s", expiresAt: null },
};

/** The host functions of one call, and what they were seen to do. */
function open(principalOf = async (): Promise<Principal | undefined> => ({ ...caller, role: "admin" })) {
  const asking: Principal[] = [];
  const emitted: UserEvent[] = [];
  const looks = vi.fn(principalOf);
  const unused = () => Promise.reject(new Error("unused"));
  const create = createHostFactory({
    principalOf: looks,
    log: createLogger({ level: "CRITICAL", format: "json" }),
    fetch: unused,
    complete: {
      waiting: () => [],
      run: async ({ principal }) => {
        asking.push(principal);
        return null;
      },
    },
    storage: { get: unused, set: unused, delete: unused, list: unused },
    userEvents: () => [{ emit: (_to, event) => void emitted.push(event), ask: unused }],
    replies: undefined,
  });
  const principal = { ...caller };
  rememberCredential(principal, "shown");
  const capabilities = { fetch: [], complete: true, storage: false };
  const host = create({ id: "f", capabilities, principal }).open();
  return { host, asking, emitted, looks };
}

it("a call that lasts asks models with the rights of now, and with what its caller showed", async () => {
  const { host, asking } = open();
  vi.advanceTimersByTime(1_500);
  await host["complete"]?.({});
  expect(asking.map((principal) => [principal.role, credentialOf(principal)])).toEqual([["admin", "shown"]]);
});

it("a call that lasts keeps the order of what it does not wait for, and looks once for all of it", async () => {
  const waits = [30, 0, 0];
  const { host, emitted, looks } = open(async () => {
    await new Promise((go) => setTimeout(go, waits.shift() ?? 0));
    return caller;
  });
  vi.advanceTimersByTime(1_500);
  await Promise.all([1, 2, 3].map((data) => host["emit"]?.({ type: "status", data })));
  expect(emitted.map(({ data }) => data.data)).toEqual([1, 2, 3]);
  expect(looks).toHaveBeenCalledOnce();
});

it("a look that failed is no refusal of what comes after it", async () => {
  const outcomes = [() => Promise.reject(new Error("away")), async () => caller];
  const { host, emitted } = open(() => outcomes.shift()!());
  vi.advanceTimersByTime(1_500);
  const sent = [1, 2].map((data) => host["emit"]?.({ type: "status", data }));
  const states = (await Promise.allSettled(sent)).map(({ status }) => status);
  expect([states, emitted.length]).toEqual([["rejected", "fulfilled"], 1]);
});
