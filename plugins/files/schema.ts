import { z } from "zod";
import { maxTextLength } from "./text.ts";

/** A stored file (configuration document, File). */
export const File = z
  .object({
    id: z.string(),
    user_id: z.string(),
    hash: z.string().nullable(),
    filename: z.string(),
    path: z.string().nullish(),
    data: z.looseObject({
      status: z.enum(["pending", "completed", "failed"]),
      content: z.string().optional(),
      error: z.string().nullable(),
      passages: z
        .object({ total: z.int(), embedded: z.int() })
        .optional()
        .meta({ description: "How far search by meaning is; left out for a file without passages" }),
    }),
    meta: z.looseObject({}),
    created_at: z.number(),
    updated_at: z.number(),
  })
  .meta({ id: "File" });

export const UploadedFile = File.extend({ status: z.literal(true) }).meta({ id: "UploadedFile" });

export const FilePage = z.object({ items: z.array(File), total: z.number() }).meta({ id: "FilePage" });

export const FileStorage = z
  .object({ bytes: z.int(), quota: z.int().nullable().meta({ description: "null is unlimited" }) })
  .meta({ id: "FileStorage" });

export const ProcessStatus = z
  .object({ status: z.enum(["pending", "completed", "failed"]), error: z.string().optional() })
  .meta({ id: "FileProcessStatus" });

export const FileText = z.object({ content: z.string() }).meta({ id: "FileText" });

/** A text that somebody sets by hand is no longer than one that is read from a file. */
export const NewFileText = z.object({ content: z.string().max(maxTextLength) }).meta({ id: "NewFileText" });

export const Removed = z.object({ message: z.string() });

export const FileId = z.object({ id: z.string().max(200) });

/** A switch in a query: true, false, 1 or 0, whatever the case. */
export function toggle(value: boolean) {
  const shape = z.stringbool({ truthy: ["true", "1"], falsy: ["false", "0"] }).default(value);
  return shape.meta({ type: "boolean", default: value });
}
