/** A backup that this server took by itself, or on an administrator's word. */
export interface BackupRow {
  id: string;
  /** Epoch seconds. */
  started_at: number;
  finished_at: number | null;
  place: string;
  name: string;
  bytes: number | null;
  error: string | null;
  /** When it was last restored into a scratch place and compared. */
  verified_at: number | null;
  /** When the check that is under way was asked for; null where none is. */
  verify_started_at: number | null;
  /** The reason why it did not come back then. */
  verify_error: string | null;
  /** When it was removed, since there are newer ones. */
  removed_at: number | null;
}

export interface BackupTables {
  backup: BackupRow;
}
