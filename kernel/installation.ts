import type { CoreConfig } from "#config/core.ts";
import type { Target } from "#storage/backup/restore.ts";
import type { Installation } from "#storage/backup/write.ts";

/** Where an installation's rows and files are, other than the settings say. */
export interface Elsewhere {
  /** Of a database server; null for the embedded database. */
  readonly url?: string | null;
  readonly dataDir?: string;
}

export interface OpenInstallation extends Installation, Target {
  close(): Promise<void>;
}

/** The installation that this process serves, and the way to open another one beside it. */
export interface OwnInstallation extends Installation {
  open(elsewhere: Elsewhere): Promise<OpenInstallation>;
}

/** What a command gets that opens an installation itself. */
export interface InstallationContext {
  readonly config: CoreConfig;
  open(elsewhere?: Elsewhere): Promise<OpenInstallation>;
  /** `--name value` as given; a flag without a value is an empty text. */
  readonly options: Readonly<Record<string, string>>;
  /** Words without a name. */
  readonly words: readonly string[];
  print(line: string): void;
}

/**
 * A command over an installation that is in use, empty or of another version: it opens the database itself, and nothing
 * is migrated for it.
 */
export interface InstallationCommand {
  readonly name: string;
  readonly summary: string;
  readonly options: Readonly<Record<string, string>>;
  runOn(context: InstallationContext): Promise<void>;
}
