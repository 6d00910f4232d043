import { server } from "#plugins/web/kit/server.ts";
import { serverNow } from "#plugins/web/kit/stores/server-time.ts";

/** Filters of the list; an empty text is none. */
export interface Filters {
  readonly action: string;
  readonly object_type: string;
  readonly actor_id: string;
  readonly query: string;
  /** As many seconds back; empty for ever. */
  readonly period: string;
}

/** The filters as the server takes them. */
export function toQuery({ period, ...filters }: Filters): Record<string, string> {
  const since = period === "" ? "" : String(Math.floor(serverNow() / 1000) - Number(period));
  return Object.fromEntries(Object.entries({ ...filters, since }).filter(([, value]) => value !== ""));
}

export const readRecords = (filters: Filters, beforeId?: number | null) =>
  server.call("GET /api/v1/audit", {
    query: { ...toQuery(filters), ...(beforeId ? { before_id: beforeId } : {}) },
  });

export const readChoices = () => server.call("GET /api/v1/audit/choices");

export type AuditRecord = Awaited<ReturnType<typeof readRecords>>["records"][number];
