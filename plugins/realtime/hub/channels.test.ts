import { afterEach, expect, it, vi } from "vitest";
import { makeLocalBus } from "../replicas/bus.fixture.ts";
import { createChannels } from "./channels.ts";
import { createMembers } from "../connections/members.ts";
import { joinReplicas } from "../replicas/replicas.ts";
import type { Session } from "../connections/session.ts";

const session = { id: "s", principal: { userId: "u" }, rooms: new Set<string>() } as unknown as Session;
const place = { userId: "u", sessionId: "s" };

let close: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(close.map((end) => end()));
  close = [];
});

/** Two replicas; the session is on the second one. */
async function open() {
  const state = { loses: (_text: string) => false, ready: Promise.resolve() };
  const { connect } = makeLocalBus(async (text, deliver) => {
    await state.ready;
    if (!state.loses(text)) {
      deliver(text);
    }
  });
  const join = async () => {
    const replicas = await joinReplicas({ bus: connect(), log: () => {} });
    const members = createMembers();
    close.push(() => replicas.close());
    return { replicas, members, channels: createChannels({ members, replicas }) };
  };
  const [asker, holder] = [await join(), await join()];
  holder.members.add(session);
  await vi.waitFor(() => expect(asker.replicas.known()).toHaveLength(1));
  const heard: unknown[] = [];
  const listen = () =>
    asker.channels.open(place, { onData: (data) => heard.push(data), onGone: () => heard.push("gone") });
  const stream = (name: string, data: unknown) => holder.channels.consume(session, name, data);
  const held = (name: string) => vi.waitFor(() => expect(stream(name, "first")).toBe(true));
  return { asker, holder, state, heard, listen, stream, held };
}

it("what a session of another replica streams comes in order, until nobody listens", async () => {
  const { heard, listen, stream, held } = await open();
  const channel = listen();
  await held(channel.name);
  for (let n = 0; n < 100; n++) {
    stream(channel.name, { n });
  }
  await vi.waitFor(() => expect(heard).toEqual(["first", ...Array.from({ length: 100 }, (_, n) => ({ n }))]));
  channel.close();
  await vi.waitFor(() => expect(stream(channel.name, "late")).toBe(false));
  expect(heard).toHaveLength(101);
});

it("a stream of which something was lost between the replicas ends with a failure on both", async () => {
  const { state, heard, listen, stream, held } = await open();
  const channel = listen();
  await held(channel.name);
  await vi.waitFor(() => expect(heard).toEqual(["first"]));
  state.loses = (text) => text.includes("lost");
  stream(channel.name, "lost");
  await new Promise((resolve) => setTimeout(resolve, 20));
  stream(channel.name, "behind");
  await vi.waitFor(() => expect(heard).toEqual(["first", "gone"]));
  await vi.waitFor(() => expect(stream(channel.name, "more")).toBe(false));
});

it("who streams waits while the other replicas cannot be reached", async () => {
  const { holder, state, heard, listen, stream, held } = await open();
  const channel = listen();
  await held(channel.name);
  const reachable = Promise.withResolvers<void>();
  state.ready = reachable.promise;
  const piece = "x".repeat(1024 * 1024);
  let sent = 0;
  while (holder.channels.whenWritable() === undefined && sent < 100) {
    stream(channel.name, piece);
    sent += 1;
  }
  expect(sent).toBeLessThan(8);
  const whenWritable = holder.channels.whenWritable();
  reachable.resolve();
  await whenWritable;
  await vi.waitFor(() => expect(heard).toEqual(["first", ...Array.from({ length: sent }, () => piece)]));
});

it("a session has so many channels at most", async () => {
  const { listen, asker } = await open();
  const all = Array.from({ length: 32 }, listen);
  expect(listen).toThrow("Too many answers");
  all[0]?.close();
  expect(listen).not.toThrow();
  expect(() => asker.channels.open({ ...place, sessionId: "t" }, { onData() {}, onGone() {} })).not.toThrow();
});
