import { contributed } from "../kit/contributions.ts";
import { type EventEnvelope, socket } from "../kit/stores/socket.svelte.ts";

/** Lets plugins answer what the server asks this client, on every page; returns the way out. */
export function answerCalls(): () => void {
  const calls = contributed("calls");
  return socket.on<EventEnvelope>("events", async (envelope) => {
    const call = calls.find(({ type }) => type === envelope.data.type);
    return call && (await (await call.load()).answer(envelope));
  });
}
