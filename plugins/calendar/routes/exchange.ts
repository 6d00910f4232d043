import { z } from "zod";
import { defineRoute, reply } from "#kernel/http/route.ts";
import type { Exchange } from "../ical/exchange.ts";
import type { Links } from "../ical/links.ts";
import { ById } from "../schema.ts";
import { access } from "./calendars.ts";

/** Longest file of iCalendar, in characters. */
const mostText = 5_000_000;

const type = "text/calendar; charset=utf-8";
const Link = z.object({ created_at: z.int(), last_used_at: z.int().nullable() }).meta({ id: "CalendarLink" });
const Imported = z
  .object({
    created: z.int(),
    updated: z.int(),
    /** Events that could not be kept, with the reason. */
    skipped: z.array(z.object({ uid: z.string(), title: z.string(), reason: z.string() })),
  })
  .meta({ id: "CalendarImport" });
const one = { access, params: ById, fails: [400, 404] } as const;

/** Calendars as files of iCalendar, and by subscription links. */
export const exchangeRoutes = (exchange: Exchange, links: Links) =>
  [...fileRoutes(exchange), ...linkRoutes(links)] as const;

function fileRoutes(exchange: Exchange) {
  return [
    defineRoute(
      {
        ...one,
        method: "GET",
        path: "/calendars/:id/export",
        summary: "Save a calendar as a file of iCalendar",
        produces: "text/calendar",
      },
      async ({ caller, params }) => {
        const { name, text } = await exchange.write(caller, params.id);
        const file = name.replace(/[^\w. -]+/g, "_").trim() || "calendar";
        return reply(text, {
          headers: { "content-type": type, "content-disposition": `attachment; filename="${file}.ics"` },
        });
      },
    ),
    defineRoute(
      {
        ...one,
        method: "POST",
        path: "/calendars/:id/import",
        summary:
          "Put the events of a file of iCalendar into a calendar; known ones, by their UID, are changed",
        body: z.object({ ics: z.string().min(1).max(mostText) }).meta({ id: "CalendarFile" }),
        returns: Imported,
        fails: [400, 403, 404, 413],
        maxBody: 2 * mostText,
      },
      ({ caller, params, body }) => exchange.read(caller, params.id, body.ics),
    ),
  ] as const;
}

function linkRoutes(links: Links) {
  return [
    defineRoute(
      {
        ...one,
        method: "GET",
        path: "/calendars/:id/link",
        summary: "Tell whether one has a subscription link to a calendar; its secret is not shown again",
        returns: Link.nullable(),
      },
      ({ caller, params }) => links.find(caller, params.id),
    ),
    defineRoute(
      {
        ...one,
        method: "POST",
        path: "/calendars/:id/link",
        summary: "Make one's subscription link to a calendar; an earlier one ends",
        returns: Link.extend({ path: z.string() }).meta({ id: "NewCalendarLink" }),
      },
      ({ caller, params }) => links.create(caller, params.id),
    ),
    defineRoute(
      {
        ...one,
        method: "DELETE",
        path: "/calendars/:id/link",
        summary: "End one's subscription link to a calendar",
        returns: z.literal(true),
      },
      async ({ caller, params }) => {
        await links.revoke(caller, params.id);
        return true;
      },
    ),
    defineRoute(
      {
        method: "GET",
        path: "/calendars/subscribe/:link/:token",
        summary: "Read a calendar without a sign-in; the pair of id and secret decides",
        access: "public",
        params: z.object({ link: z.string().max(100), token: z.string().max(200) }),
        produces: "text/calendar",
        fails: [404, 429],
      },
      async ({ params, request }) => {
        const token = params.token.replace(/\.ics$/, "");
        const text = await links.read({ link: params.link, token }, request.address);
        return reply(text, { headers: { "content-type": type, "cache-control": "private, no-cache" } });
      },
    ),
  ] as const;
}
