import { definePlugin } from "#kernel/plugin.ts";
import { defineRoute } from "#kernel/http/route.ts";
import { hub } from "#kernel/sockets/hub.ts";
import { toEnvelope } from "#kernel/sockets/envelope.ts";
import { toRoom } from "#kernel/sockets/rooms.ts";

const everyMs = 5;

/** Emits an event of the size of a few tokens to the caller's connections, two hundred times a second. */
export default definePlugin({
  id: "fan-out",
  title: "Fan-out",
  uses: { hub },
  setup({ use, signal }) {
    const start = defineRoute(
      { method: "POST", path: "/fan-out/start", summary: "Start", access: "user" },
      ({ caller }) => {
        let seq = 0;
        const room = toRoom("user", caller.userId);
        const timer = setInterval(() => {
          const data = { item_id: "item-1", kind: "text", content: "a few words of a reply " };
          const place = { chatId: "chat-1", messageId: "message-1", seq: (seq += 1) };
          use.hub.emit(room, "events", toEnvelope({ type: "chat:message:delta", data }, place));
        }, everyMs);
        signal.addEventListener("abort", () => clearInterval(timer));
        return true;
      },
    );
    return { routes: { api: [start] } };
  },
});
