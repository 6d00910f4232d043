import { Readable } from "node:stream";
import { create } from "tar";
import { AppError } from "#kernel/errors.ts";
import { type Reply, reply } from "#kernel/http/route.ts";
import type { Deployment } from "#kernel/services.ts";

export interface BackupParts {
  readonly deployment: Pick<Deployment, "database" | "copyDatabase">;
  /** ENABLE_ADMIN_EXPORT. */
  mayExport(): boolean;
}

/**
 * The embedded database as a gzipped tape archive of one folder, `database`, which takes the place of the one in DATA_DIR.
 * Throws `invalid` for a database server, `forbidden` while exports are switched off, `conflict` while another is taken.
 */
export function createBackup({ deployment, mayExport }: BackupParts): () => Promise<Reply> {
  let isBusy = false;
  return async () => {
    if (!mayExport()) {
      throw new AppError("forbidden", "Exports are switched off.");
    }
    if (deployment.database === "server") {
      throw new AppError("invalid", "The database is a server of its own: take a copy with pg_dump.");
    }
    if (isBusy) {
      throw new AppError("conflict", "A copy is on its way already. Wait until it has arrived.");
    }
    isBusy = true;
    try {
      const copy = await deployment.copyDatabase();
      const archive = Readable.from(create({ gzip: true, cwd: copy.folder, portable: true }, ["database"]));
      // Also after a client that went away: its disk space is needed again.
      archive.once("close", () => {
        isBusy = false;
        void copy.remove();
      });
      return reply(archive, {
        headers: {
          "content-type": "application/gzip",
          "content-disposition": `attachment; filename="database-${new Date().toISOString().slice(0, 10)}.tar.gz"`,
        },
      });
    } catch (error) {
      isBusy = false;
      throw error;
    }
  };
}
