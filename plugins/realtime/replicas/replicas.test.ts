import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { makeLocalBus } from "./bus.fixture.ts";
import { joinReplicas, type Replicas } from "./replicas.ts";

const open: Replicas[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((replicas) => replicas.close()));
});

/** Replicas on a bus that can fail, repeat itself and fall silent. */
function makeNetwork() {
  const state = { failures: 0, loses: false, repeats: false, texts: [] as string[] };
  const { connect, listeners } = makeLocalBus((text, deliver) => {
    if (state.failures > 0) {
      state.failures -= 1;
      throw new Error("away");
    }
    state.texts.push(text);
    if (state.loses) {
      return;
    }
    for (let times = state.repeats ? 2 : 1; times > 0; times--) {
      deliver(text);
    }
  });
  const join = async (options: { helloEveryMs?: number } = {}) => {
    const replicas = await joinReplicas({ bus: connect(), log: () => {}, ...options });
    open.push(replicas);
    return replicas;
  };
  return { state, listeners, join };
}

it("replicas find each other, and hear each other once and in order", async () => {
  const { state, join } = makeNetwork();
  const [one, two] = [await join(), await join()];
  await vi.waitFor(() => expect([one.known(), two.known()]).toEqual([[two.id], [one.id]]));
  const heard: string[] = [];
  const own: string[] = [];
  two.on("say", (from, [word = ""], json) => heard.push(`${from === one.id} ${word} ${json}`));
  one.on("say", () => own.push("doubled"));
  state.repeats = true;
  state.failures = 2;
  one.send("say", ["first"], '{"tab":"\\t","line":"\\n"}');
  one.send("say", ["second"]);
  await pause(0);
  one.send("say", ["third"]);
  await vi.waitFor(() => expect(heard).toHaveLength(3));
  expect(heard).toEqual(['true first {"tab":"\\t","line":"\\n"}', "true second ", "true third "]);
  expect(own).toEqual([]);
});

it("what is said in one turn goes together", async () => {
  const { state, join } = makeNetwork();
  const [one] = [await join(), await join()];
  await vi.waitFor(() => expect(one?.known()).toHaveLength(1));
  await pause(20);
  state.texts.length = 0;
  for (let at = 0; at < 100; at++) {
    one?.send("say", [String(at)]);
  }
  await pause(20);
  expect(state.texts).toHaveLength(1);
});

it("a replica that surely is alone says nothing", async () => {
  const { state, join } = makeNetwork();
  vi.useFakeTimers({ toFake: ["Date"] });
  try {
    const one = await join({ helloEveryMs: 60_000 });
    vi.setSystemTime(Date.now() + 10_000);
    expect(one.isAlone()).toBe(true);
    state.texts.length = 0;
    one.send("say", ["nobody"]);
    await pause(20);
    expect(state.texts).toEqual([]);
  } finally {
    vi.useRealTimers();
  }
});

it("one that says goodbye, and one that falls silent, are gone", async () => {
  const { join, listeners } = makeNetwork();
  const one = await join({ helloEveryMs: 50 });
  const [two, three] = [await join(), await join({ helloEveryMs: 50 })];
  await vi.waitFor(() => expect(one.known()).toHaveLength(2));
  const gone: string[] = [];
  one.onGone((id) => gone.push(id));
  await three.close();
  expect(gone).toEqual([three.id]);
  await vi.waitFor(() => expect(gone).toEqual([three.id, two.id]));
  // After a gap everybody is asked who is there.
  listeners[0]?.onGap();
  await vi.waitFor(() => expect(one.known()).toContain(two.id));
});

it("who cannot hear takes nobody for gone, and what was said meanwhile arrives", async () => {
  const { state, join } = makeNetwork();
  const [one, two] = [await join({ helloEveryMs: 50 }), await join({ helloEveryMs: 50 })];
  await vi.waitFor(() => expect([one.known(), two.known()]).toEqual([[two.id], [one.id]]));
  const heard: string[] = [];
  const gone: string[] = [];
  two.on("say", (_from, [word = ""]) => heard.push(word));
  one.onGone((id) => gone.push(id));
  two.onGone((id) => gone.push(id));
  state.failures = Infinity;
  await pause(600);
  expect(one.isAlone()).toBe(false);
  one.send("say", ["late"]);
  state.failures = 0;
  await vi.waitFor(() => expect(heard).toEqual(["late"]), { timeout: 3_000 });
  expect(gone).toEqual([]);
});

it("who never heard itself is not sure to be alone", async () => {
  const { state, join } = makeNetwork();
  vi.useFakeTimers({ toFake: ["Date"] });
  try {
    state.loses = true;
    const one = await join();
    vi.setSystemTime(Date.now() + 10_000);
    expect(one.isAlone()).toBe(false);
  } finally {
    vi.useRealTimers();
  }
});

describe("what was missed is noticed", () => {
  async function open() {
    const network = makeNetwork();
    const [one, two] = [await network.join(), await network.join()];
    await vi.waitFor(() => expect([one.known(), two.known()]).toEqual([[two.id], [one.id]]));
    const seen = { missed: 0, said: [] as string[] };
    // Who comes to others has missed what they said before.
    await pause(600);
    two.onMissed(() => (seen.missed += 1));
    two.on("say", (_from, [word = ""]) => seen.said.push(word));
    return { ...network, one, two, seen };
  }

  it("when a text is lost on its way", async () => {
    const { state, one, seen } = await open();
    state.loses = true;
    one.send("say", ["lost"]);
    await pause(20);
    state.loses = false;
    expect(seen.missed).toBe(0);
    one.send("say", ["behind"]);
    await vi.waitFor(() => expect(seen).toEqual({ missed: 1, said: ["behind"] }));
  });

  it("when the way to the others was broken", async () => {
    const { listeners, seen } = await open();
    listeners[1]?.onGap();
    await vi.waitFor(() => expect(seen.missed).toBe(1));
  });

  it("when more had to wait than is kept", async () => {
    const { state, one, seen } = await open();
    state.failures = 1;
    for (let at = 0; at < 10; at++) {
      one.send("say", [String(at)], "x".repeat(1024 * 1024));
    }
    await vi.waitFor(() => expect(seen.said.length).toBeGreaterThan(5));
    expect(seen.said.length).toBeLessThan(10);
    await vi.waitFor(() => expect(seen.missed).toBe(1));
  });

  it("but not when all came, some of it twice", async () => {
    const { state, one, seen } = await open();
    state.repeats = true;
    one.send("say", ["first"]);
    await pause(20);
    one.send("say", ["second"]);
    await one.close();
    await pause(600);
    expect(seen).toEqual({ missed: 0, said: ["first", "second"] });
  });
});

it("a text that no replica would send harms nobody", async () => {
  const { listeners, join } = makeNetwork();
  const one = await join();
  const heard: string[] = [];
  one.on("say", (_from, [word = ""]) => heard.push(word));
  one.on("fail", () => {
    throw new Error("a handler's fault");
  });
  const stranger = randomUUID();
  const texts = ["", "hello", "hello 1", `${stranger} 0`, `${stranger} x`, `${stranger} 1 1`, '["hello"]\t'];
  texts.forEach((text) => listeners[0]?.handler(text));
  expect(one.known()).toEqual([]);
  const lines = ["nonsense", "null\t", '["fail"]\t', '["say","after"]\t'];
  listeners[0]?.handler([`${stranger} 1`, ...lines].join("\n"));
  expect([one.known(), heard]).toEqual([[stranger], ["after"]]);
});
