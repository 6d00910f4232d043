import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { server } from "#plugins/web/kit/server.ts";
import { type ImportedUser, readUsers } from "./csv.ts";

/** One account of the file and why it is refused. */
export interface ImportLine {
  /** Counts the accounts of the file from 1. */
  readonly number: number;
  readonly user: ImportedUser;
  readonly refusal: string | null;
}

/** Passwords take a while to hash: so many go with one request, so that a bar can show how far it is. */
const perRequest = 10;
const most = 5000;

/** An import of accounts: a dry run of the whole file, then the accounts that passed it. */
export class UserImport {
  lines = $state.raw<readonly ImportLine[]>();
  failure = $state<string>();
  isChecking = $state(false);
  isAdding = $state(false);
  isDone = $state(false);
  added = $state(0);
  wanted = $state(0);

  async check(text: string): Promise<void> {
    this.lines = undefined;
    this.failure = undefined;
    const users = readUsers(text);
    if (users === undefined || users.length === 0 || users.length > most) {
      this.failure =
        users === undefined
          ? t("The first line has to name the columns name, email and password.")
          : users.length === 0
            ? t("The file names no accounts.")
            : t("The file has more than 5,000 accounts. Divide it.");
      return;
    }
    this.isChecking = true;
    try {
      const { results } = await server.call("POST /api/v1/users/import", { body: { users, dry_run: true } });
      this.lines = users.map((user, index) => toLine(user, index, results[index]?.refusal));
    } catch (error) {
      this.failure = (error as Error).message;
    } finally {
      this.isChecking = false;
    }
  }

  async add(): Promise<void> {
    const lines = [...(this.lines ?? [])];
    const ready = lines.filter(({ refusal }) => refusal === null);
    this.wanted = ready.length;
    this.added = 0;
    this.isAdding = true;
    this.failure = undefined;
    try {
      for (let start = 0; start < ready.length; start += perRequest) {
        const part = ready.slice(start, start + perRequest);
        const users = part.map(({ user }) => user);
        const { results, added } = await server.call("POST /api/v1/users/import", { body: { users } });
        this.added += added;
        part.forEach((line, index) => {
          lines[line.number - 1] = toLine(line.user, line.number - 1, results[index]?.refusal);
        });
        this.lines = [...lines];
      }
      this.isDone = true;
    } catch (error) {
      this.failure = t(
        "After {count} accounts: {reason} Choose the file again to go on; who is added already is left out.",
        {
          count: this.added,
          reason: (error as Error).message,
        },
      );
      this.lines = undefined;
    } finally {
      this.isAdding = false;
    }
  }
}

const toLine = (user: ImportedUser, index: number, refusal: string | null | undefined): ImportLine => ({
  number: index + 1,
  user,
  refusal: refusal ?? null,
});
