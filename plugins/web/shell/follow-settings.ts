import { session } from "../kit/stores/session.svelte.ts";
import { type EventEnvelope, socket } from "../kit/stores/socket.svelte.ts";

/** All windows hear of a change in the same moment; they do not ask in the same moment. */
const spreadMs = 1_000;

/** Reads what the instance offers again when an administrator changed it; returns the way out. */
export function followSettings(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const off = socket.on<EventEnvelope>("events", ({ data }) => {
    if (data.type === "config:changed") {
      clearTimeout(timer);
      timer = setTimeout(() => void session.load(), Math.random() * spreadMs);
    }
  });
  return () => {
    off();
    clearTimeout(timer);
  };
}
