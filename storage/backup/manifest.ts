import { z } from "zod";
import { StorageError } from "../errors.ts";

export const manifestName = "manifest.json";

const Manifest = z.object({
  format: z.literal(1),
  /** Of the platform that wrote the backup. */
  version: z.string(),
  /** ISO 8601. */
  created_at: z.string(),
  database: z.enum(["embedded", "server"]),
  /** The migrations that had run, by owner. */
  ledger: z.record(z.string(), z.array(z.string())),
  /** The job queue's number of its tables; null when the queue is left out. */
  jobs: z.int().nullable(),
  tables: z.array(
    z.object({
      place: z.enum(["own", "jobs"]),
      name: z.string(),
      columns: z.array(z.object({ name: z.string(), type: z.string() })),
      rows: z.int(),
      sum: z.string(),
    }),
  ),
  sequences: z.record(z.string(), z.string()),
  files: z.object({ count: z.int(), bytes: z.int() }),
  /** Tells whether two servers have the same WEBUI_SECRET_KEY without telling the key; null where none is set. */
  key_print: z.string().nullable(),
  /** Every other file of the archive. */
  entries: z.array(z.object({ name: z.string(), size: z.int(), sha256: z.string() })),
});

/** The last file of a backup: what it holds, and by which sums that is checked. */
export type Manifest = z.infer<typeof Manifest>;

/** Throws StorageError for a text that is none. */
export function parseManifest(text: string): Manifest {
  try {
    return Manifest.parse(JSON.parse(text));
  } catch (error) {
    throw new StorageError(
      "The file is no backup that this version can read: its manifest has another form.",
      {
        cause: error,
      },
    );
  }
}
