import { z } from "zod";
import { defineRoute, reply } from "#kernel/http/route.ts";
import type { Inbox } from "../inbox/inbox.ts";
import type { Push } from "../push/push.ts";
import {
  ById,
  NewPushSubscription,
  NewTarget,
  NotificationPage,
  NotificationQuery,
  PushState,
  PushSubscription,
  ReadMark,
  Target,
  TargetEdit,
  TargetEvents,
  TestResult,
  Unread,
} from "../schema.ts";
import type { Targets } from "../targets/targets.ts";

const access = "user";

/** The notification centre of the caller. */
export function inboxRoutes(inbox: Inbox) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/notifications/",
        summary: "List one's notifications, newest first, 50 a page, with how many are unread",
        access,
        query: NotificationQuery,
        returns: NotificationPage,
      },
      ({ caller, query }) => inbox.list(caller, query),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/notifications/read",
        summary: "Mark notifications as read; all of them without ids",
        access,
        body: ReadMark,
        returns: Unread,
      },
      ({ caller, body }) => inbox.markRead(caller, body.ids),
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/notifications/",
        summary: "Delete all of one's notifications",
        access,
        returns: Unread,
      },
      ({ caller }) => inbox.clear(caller),
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/notifications/:id",
        summary: "Delete a notification",
        access,
        params: ById,
        returns: Unread,
        fails: [404],
      },
      ({ caller, params }) => inbox.remove(caller, params.id),
    ),
  ] as const;
}

/** Addresses of the caller (contract §9): 404 while ENABLE_USER_WEBHOOKS is off, 403 without features.webhooks. */
export function targetRoutes(targets: Targets) {
  return [...targetListRoutes(targets), ...targetRowRoutes(targets)] as const;
}

function targetListRoutes(targets: Targets) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/notifications/events",
        summary: "List the events that targets can be told of",
        access,
        returns: TargetEvents,
        fails: [404],
      },
      ({ caller }) => targets.events(caller),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/notifications/targets",
        summary: "List one's targets; their addresses are masked",
        access,
        returns: z.array(Target),
        fails: [404],
      },
      ({ caller }) => targets.list(caller),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/notifications/targets",
        summary: "Add an address that is told of one's own events",
        access,
        body: NewTarget,
        returns: Target,
        fails: [400, 404],
      },
      ({ caller, body }) => targets.create(caller, body),
    ),
  ] as const;
}

function targetRowRoutes(targets: Targets) {
  return [
    defineRoute(
      {
        method: "PUT",
        path: "/notifications/targets/:id",
        summary: "Change a target; an address that is left out or masked stays",
        access,
        params: ById,
        body: TargetEdit,
        returns: Target,
        fails: [400, 404],
      },
      ({ caller, params, body }) => targets.update(caller, params.id, body),
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/notifications/targets/:id",
        summary: "Delete a target",
        access,
        params: ById,
        returns: z.literal(true),
        fails: [404],
      },
      ({ caller, params }) => targets.remove(caller, params.id),
    ),
    defineRoute(
      {
        method: "PUT",
        path: "/notifications/targets/:id/default",
        summary: "Make a target the one that models notify",
        access,
        params: ById,
        returns: Target,
        fails: [404],
      },
      ({ caller, params }) => targets.makeDefault(caller, params.id),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/notifications/targets/:id/test",
        summary: "Send a test to a target at once",
        access,
        params: ById,
        returns: TestResult,
        fails: [404],
      },
      ({ caller, params, request }) => targets.test(caller, params.id, request.signal),
    ),
  ] as const;
}

/** Browsers that take web push. */
export function pushRoutes(push: Push, { worker, name }: { worker: Buffer; name: string }) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/notifications/push",
        summary: "Show the key for web push and one's browsers",
        access,
        returns: PushState,
      },
      ({ caller }) => push.state(caller),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/notifications/push",
        summary: "Add a browser for web push",
        access,
        body: NewPushSubscription,
        returns: PushSubscription,
        fails: [400],
      },
      ({ caller, body }) => push.subscribe(caller, body),
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/notifications/push/:id",
        summary: "Remove a browser from web push",
        access,
        params: ById,
        returns: z.literal(true),
        fails: [404],
      },
      ({ caller, params }) => push.unsubscribe(caller, params.id),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/notifications/push/test",
        summary: "Send a test to all of one's browsers; answers how many there are",
        access,
        returns: z.object({ count: z.int() }),
      },
      async ({ caller }) => ({
        count: await push.send(caller.userId, {
          id: "test",
          title: name,
          body: "Notifications reach this browser.",
          path: "/settings/notifications",
        }),
      }),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/notifications/worker.js",
        summary: "Service worker that shows web push",
        access: "public",
        hidden: true,
        produces: "text/javascript; charset=utf-8",
      },
      () =>
        reply(worker, {
          headers: {
            "content-type": "text/javascript; charset=utf-8",
            "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
            "cache-control": "no-cache",
          },
        }),
    ),
  ] as const;
}
