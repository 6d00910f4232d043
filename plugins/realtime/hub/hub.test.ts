import { expect, it, vi } from "vitest";
import { makeLocalBus } from "../replicas/bus.fixture.ts";
import { createChannels } from "./channels.ts";
import { createHub } from "./hub.ts";
import { createMembers } from "../connections/members.ts";
import { joinReplicas } from "../replicas/replicas.ts";

/** Replicas on a bus that can hold texts back, so that all of them are handed out in one turn. */
function makeReplicas() {
  const state = { held: undefined as string[] | undefined };
  const { connect, deliver } = makeLocalBus((text, pass) => {
    if (state.held) {
      state.held.push(text);
    } else {
      pass(text);
    }
  });
  const join = async () => {
    const replicas = await joinReplicas({ bus: connect(), log: () => {} });
    const members = createMembers();
    const channels = createChannels({ members, replicas });
    const hub = createHub({
      members,
      replicas,
      channels,
      rooms: { renewAll: async () => {} },
      instanceId: "i",
      callTimeout: () => null,
    });
    return { hub, replicas };
  };
  return { state, deliver, join };
}

it.each([
  ["first", (texts: string[]) => texts],
  ["last", (texts: string[]) => texts.toReversed()],
] as const)("what one replica knows is found when its answer comes %s of several", async (_at, order) => {
  const { state, deliver, join } = makeReplicas();
  const [asks, knows, other] = [await join(), await join(), await join()];
  await vi.waitFor(() => expect(asks.replicas.known()).toHaveLength(2));
  knows.hub.contribute("place", (question) => {
    // From here on texts are held: the questions have gone out, the answers have not.
    state.held = [];
    return { at: question };
  });
  other.hub.contribute("place", () => null);
  const found = asks.hub.find("place", 7);
  await vi.waitFor(() => expect(state.held).toHaveLength(2));
  const texts = order(state.held?.toSorted((a) => (a.startsWith(knows.replicas.id) ? -1 : 1)) ?? []);
  state.held = undefined;
  texts.forEach(deliver);
  expect(await found).toEqual({ at: 7 });
  await Promise.all([asks, knows, other].map(({ replicas }) => replicas.close()));
});
