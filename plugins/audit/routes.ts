import { AppError } from "#kernel/errors.ts";
import { defineRoute, type Reply } from "#kernel/http/route.ts";
import {
  type AuditChoices as Choices,
  AuditChoices,
  AuditFilter,
  AuditListQuery,
  type AuditPage as Page,
  AuditPage,
} from "./schema.ts";

export interface AuditRouteParts {
  list(query: AuditListQuery): Promise<Page>;
  choices(): Promise<Choices>;
  export(filter: AuditFilter): Reply;
  /** ENABLE_ADMIN_EXPORT. */
  mayExport(): boolean;
}

/** `/api/v1/audit`: what administrators did. */
export function auditRoutes({ list, choices, export: exported, mayExport }: AuditRouteParts) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/audit",
        summary: "List what administrators did, the latest first",
        access: "admin",
        query: AuditListQuery,
        returns: AuditPage,
      },
      ({ query }) => list(query),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/audit/choices",
        summary: "List the actions, kinds of objects and people that occur in the audit record",
        access: "admin",
        returns: AuditChoices,
      },
      () => choices(),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/audit/export",
        summary: "Export the audit record as JSON Lines, the earliest first (ENABLE_ADMIN_EXPORT)",
        access: "admin",
        query: AuditFilter,
        produces: "application/jsonl",
        fails: [403],
      },
      ({ query }) => {
        if (!mayExport()) {
          throw new AppError("forbidden", "Exports are switched off.");
        }
        return exported(query);
      },
    ),
  ];
}
