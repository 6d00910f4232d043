import { setTimeout as pause } from "node:timers/promises";
import { afterEach, expect, it, vi } from "vitest";
import { makeLocalBus } from "./bus.fixture.ts";
import { joinReplicas, type Replicas } from "./replicas.ts";

const open: Replicas[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((replicas) => replicas.close()));
});

/** Replicas on a bus that can fail, repeat itself and fall silent. */
function makeNetwork() {
  const state = { failures: 0, repeats: false, texts: [] as string[] };
  const { connect, listeners } = makeLocalBus((text, deliver) => {
    if (state.failures > 0) {
      state.failures -= 1;
      throw new Error("away");
    }
    state.texts.push(text);
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
    expect(one.areNone()).toBe(true);
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
