import { z } from "zod";
import { AppError } from "#kernel/errors.ts";
import { defineRoute, reply } from "#kernel/http/route.ts";
import type { Usage } from "./usage.ts";

const Activity = z.object({ model_ids: z.array(z.string()), user_count: z.int() }).meta({ id: "Activity" });

/** Activity, and what requests are told that come to the sockets' addresses without being a WebSocket. */
export function realtimeRoutes({ usage, isPublic }: { usage: Usage; isPublic(): boolean }) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/api/usage",
        summary: "Models in use and how many people are here",
        access: "user",
        returns: Activity,
      },
      ({ caller }) => {
        if (caller.role !== "admin" && !isPublic()) {
          throw new AppError("forbidden", "Only administrators may see who is active.");
        }
        return usage.look();
      },
    ),
    defineRoute(
      { method: "GET", path: "/ws", summary: "The plain WebSocket", access: "public", hidden: true },
      () => reply({ detail: "Open a WebSocket here." }, { status: 426, headers: { upgrade: "websocket" } }),
    ),
    ...(["GET", "POST"] as const).map((method) =>
      defineRoute(
        { method, path: "/ws/socket.io", summary: "Socket.IO", access: "public", hidden: true },
        () => reply(noPolling, { status: 400 }),
      ),
    ),
  ];
}

// The first two fields are what Socket.IO clients show.
const noPolling = {
  code: 0,
  message: "Transport unknown",
  detail: 'Socket.IO clients connect over WebSocket here: set transports to ["websocket"].',
};
