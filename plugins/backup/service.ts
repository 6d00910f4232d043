import { defineService } from "#kernel/service.ts";

/** The newest backup that is there. */
export interface LastBackup {
  readonly name: string;
  /** Epoch seconds. */
  readonly started_at: number;
  readonly bytes: number | null;
  /** When it was last restored into a scratch place and compared. */
  readonly verified_at: number | null;
}

export interface BackupFacts {
  last(): Promise<LastBackup | undefined>;
}
export const backupFacts = defineService<BackupFacts>("backup.facts");
