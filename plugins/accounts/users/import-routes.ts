import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import { createUserImports, ImportForm, ImportRecord, type UserImportParts } from "./user-imports.ts";

/** `/users/import`: many accounts at once, or what would become of them. */
export function importRoutes(parts: UserImportParts) {
  const imports = createUserImports(parts);
  return [
    defineRoute(
      {
        method: "POST",
        path: "/users/import",
        summary: "Begin to add many accounts; `dry_run` tells what would be added and what refused",
        access: "admin",
        body: ImportForm,
        returns: ImportRecord,
      },
      ({ caller, body }) => (body.dry_run ? imports.preview(body) : imports.start(caller, body)),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/users/import/:id",
        summary: "Tell how far an import of accounts is",
        access: "admin",
        params: z.object({ id: z.string().min(1).max(200) }),
        returns: ImportRecord,
        fails: [404],
      },
      ({ params }) => imports.find(params.id),
    ),
  ];
}
