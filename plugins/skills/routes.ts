import { buffer } from "node:stream/consumers";
import { z } from "zod";
import { firstCharacters } from "#kernel/first-characters.ts";
import { defineRoute, reply } from "#kernel/http/route.ts";
import { maxArchive, readArchive, writeArchive } from "./archive/archive.ts";
import { toText } from "./library/file-text.ts";
import type { Library } from "./library/library.ts";
import type { Listing } from "./library/listing.ts";
import {
  AccessForm,
  FileContent,
  FileForm,
  FileQuery,
  IdParams,
  ListQuery,
  SkillExport,
  SkillForm,
  SkillItem,
  SkillPage,
  SkillRecord,
  SkillUpdate,
} from "./schema.ts";

export interface SkillLogic {
  readonly library: Library;
  readonly listing: Listing;
}

/** Skills (contract 8), with their files and archives. */
export function skillRoutes(logic: SkillLogic) {
  return [...listRoutes(logic), ...makeRoutes(logic), ...oneRoutes(logic), ...fileRoutes(logic)];
}

function listRoutes({ listing }: SkillLogic) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/skills/",
        summary: "List the skills that the caller may use",
        access: "user",
        returns: z.array(SkillItem),
      },
      ({ caller }) => listing.all(caller),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/skills/list",
        summary: "List and search skills by page",
        access: "user",
        query: ListQuery,
        returns: SkillPage,
      },
      ({ caller, query }) => listing.page(caller, query),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/skills/export",
        summary: "Export the skills that the caller may change, with their files as base64",
        access: "permission:workspace.skills_export",
        returns: z.array(SkillExport),
      },
      ({ caller }) => listing.export(caller),
    ),
  ];
}

function makeRoutes({ library }: SkillLogic) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/skills/create",
        summary: "Create or import a skill; needs workspace.skills or workspace.skills_import",
        access: "user",
        body: SkillForm,
        maxBody: 16_000_000,
        returns: SkillRecord,
        fails: [400, 403, 409, 413],
        idempotent: true,
      },
      ({ caller, body }) => library.create(caller, body),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/skills/import",
        summary: "Import a skill from a ZIP archive with a SKILL.md; the form field id names it",
        access: "permission:workspace.skills_import",
        upload: true,
        returns: SkillRecord,
        fails: [400, 403, 409, 413],
      },
      async ({ caller, upload }) => {
        const { result, fields } = await upload.receive("file", { maxBytes: maxArchive }, ({ stream }) =>
          buffer(stream),
        );
        const { text, folder, files } = readArchive(result);
        const name = text.name ?? (folder || "Skill");
        const form = SkillForm.parse({
          id: fields["id"] || toSlug(folder || name),
          name: firstCharacters(name, 200),
          description: firstCharacters(text.description ?? "", 2_000),
          content: text.content || "…",
          files: files.map(({ path, content }) => ({
            path,
            content: Buffer.from(content).toString("base64"),
          })),
        });
        return await library.create(caller, form);
      },
    ),
  ];
}

const one = { access: "user", params: IdParams, returns: SkillRecord, fails: [403, 404] } as const;

function oneRoutes({ library }: SkillLogic) {
  return [
    defineRoute(
      { ...one, method: "GET", path: "/skills/id/:id", summary: "Read a skill" },
      ({ caller, params }) => library.get(caller, params.id),
    ),
    defineRoute(
      {
        ...one,
        method: "POST",
        path: "/skills/id/:id/update",
        summary: "Change a skill; what is left out stays",
        body: SkillUpdate,
        fails: [400, 403, 404, 409],
      },
      ({ caller, params, body }) => library.update(caller, params.id, body),
    ),
    defineRoute(
      {
        ...one,
        method: "POST",
        path: "/skills/id/:id/access/update",
        summary: "Say who may use or change a skill",
        body: AccessForm,
      },
      ({ caller, params, body }) => library.share(caller, params.id, body.access_grants),
    ),
    defineRoute(
      {
        ...one,
        method: "POST",
        path: "/skills/id/:id/toggle",
        summary: "Take a skill out of use, or back",
      },
      ({ caller, params }) => library.toggle(caller, params.id),
    ),
    defineRoute(
      {
        ...one,
        method: "DELETE",
        path: "/skills/id/:id/delete",
        summary: "Delete a skill with its files",
        returns: z.literal(true),
      },
      ({ caller, params }) => library.remove(caller, params.id),
    ),
  ];
}

function fileRoutes({ library }: SkillLogic) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/skills/id/:id/export",
        summary: "Export a skill as a ZIP archive",
        access: "permission:workspace.skills_export",
        params: IdParams,
        produces: "application/zip",
        fails: [404],
      },
      async ({ caller, params }) => {
        const { row, files } = await library.whole(caller, params.id);
        return reply(Buffer.from(writeArchive(row, files)), {
          headers: {
            "content-type": "application/zip",
            "content-disposition": `attachment; filename="${row.id}.zip"`,
          },
        });
      },
    ),
    defineRoute(
      {
        ...one,
        method: "POST",
        path: "/skills/id/:id/files",
        summary: "Add a file to a skill or replace it, as base64",
        body: FileForm,
        fails: [400, 403, 404, 413],
      },
      ({ caller, params, body }) =>
        library.putFile(caller, params.id, {
          path: body.path,
          content: Buffer.from(body.content, "base64"),
        }),
    ),
    defineRoute(
      {
        ...one,
        method: "GET",
        path: "/skills/id/:id/files/content",
        summary: "Read a file of a skill, as base64 and as text where it is one",
        query: FileQuery,
        returns: FileContent,
      },
      async ({ caller, params, query }) => {
        const { path, content } = await library.readFile(caller, params.id, query.path);
        const bytes = Buffer.from(content);
        return { path, size: bytes.length, content: bytes.toString("base64"), text: toText(bytes) };
      },
    ),
    defineRoute(
      {
        ...one,
        method: "DELETE",
        path: "/skills/id/:id/files",
        summary: "Delete a file of a skill",
        query: FileQuery,
      },
      ({ caller, params, query }) => library.removeFile(caller, params.id, query.path),
    ),
  ];
}

/** `PDF forms` → `pdf-forms`; the rule of ids says what is wrong with the rest. */
function toSlug(name: string): string {
  return (name.toLowerCase().match(/[a-z0-9_]+/g) ?? []).join("-").slice(0, 64);
}
