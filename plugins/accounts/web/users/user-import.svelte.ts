import type { Api } from "#plugins/catalogue.ts";
import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { saveFile } from "#plugins/web/kit/markdown/save-file.ts";
import { server } from "#plugins/web/kit/server.ts";
import { type ImportedUser, readUsers } from "./csv.ts";
import { invite } from "./invite.ts";

type Outcome = Api["GET /api/v1/users/import/:id"]["answer"];

/** One account of the file and why it is refused. */
export interface ImportLine {
  readonly user: ImportedUser;
  readonly refusal: string | null;
  /** Known once the account is there. */
  readonly userId: string | null;
}

const askEveryMs = 400;
const most = 5000;

/** An import of accounts: a dry run of the whole file, then the accounts that passed it. */
export class UserImport {
  lines = $state.raw<readonly ImportLine[]>();
  /** Columns of the file that nothing is taken from. */
  unused = $state.raw<readonly string[]>([]);
  failure = $state<string>();
  isChecking = $state(false);
  isAdding = $state(false);
  isDone = $state(false);
  /** People with a password of the file choose an own one at their first sign-in. */
  changesPassword = $state(true);
  /** Accounts of the import that were looked at, and those that were added. */
  done = $state(0);
  added = $state(0);
  wanted = $state(0);

  async check(text: string): Promise<void> {
    this.lines = undefined;
    this.failure = undefined;
    const list = readUsers(text);
    const users = list?.users;
    this.unused = list?.unused ?? [];
    if (users === undefined || users.length === 0 || users.length > most) {
      this.failure =
        users === undefined
          ? t("The first line has to name the columns name and email.")
          : users.length === 0
            ? t("The file names no accounts.")
            : t("The file has more than 5,000 accounts. Divide it.");
      return;
    }
    this.isChecking = true;
    try {
      const { results } = await server.call("POST /api/v1/users/import", {
        body: { users: [...users], dry_run: true },
      });
      this.lines = users.map((user, index) => toLine(user, results?.[index]));
    } catch (error) {
      this.failure = (error as Error).message;
    } finally {
      this.isChecking = false;
    }
  }

  async add(): Promise<void> {
    const lines = this.lines ?? [];
    const ready = lines.filter(({ refusal }) => refusal === null);
    this.wanted = ready.length;
    this.done = this.added = 0;
    this.isAdding = true;
    this.failure = undefined;
    try {
      const body = { users: ready.map(({ user }) => user), change_password: this.changesPassword };
      const { results } = await this.#follow(await server.call("POST /api/v1/users/import", { body }));
      const outcomes = new Map(ready.map(({ user }, index) => [user, toLine(user, results?.[index])]));
      this.lines = lines.map((line) => outcomes.get(line.user) ?? line);
      this.isDone = true;
    } catch (error) {
      this.failure = (error as Error).message;
      this.lines = undefined;
    } finally {
      this.isAdding = false;
    }
  }

  /** Asks how far the import is until it has ended. */
  async #follow(begun: Outcome): Promise<Outcome> {
    let state = begun;
    while (state.state === "running") {
      await new Promise((resolve) => setTimeout(resolve, askEveryMs));
      state = await server.call("GET /api/v1/users/import/:id", { params: { id: begun.id ?? "" } });
      this.done = state.done;
      this.added = state.added;
    }
    if (state.state === "failed") {
      throw new Error(
        t("The import stopped before its end. Choose the file again: accounts that were added are left out."),
      );
    }
    return state;
  }

  /** People who were added without a password. */
  get invited(): readonly ImportLine[] {
    return this.lines?.filter(({ user, userId }) => userId !== null && user.password === "") ?? [];
  }

  /** Saves a CSV file with the link of each of them. */
  async saveLinks(): Promise<void> {
    const links = await invite(this.invited.map(({ userId }) => userId ?? ""));
    const rows = links.map(({ name, email, path }) => [name, email, new URL(path, location.origin).href]);
    saveFile("invitations.csv", [["name", "email", "link"], ...rows].map(toCsvLine).join(""), "text/csv");
  }
}

/** Spreadsheets run cells that begin like a formula: an apostrophe makes them text. */
const toCsvLine = (cells: readonly string[]): string =>
  `${cells.map((cell) => `"${cell.replace(/^(?=[=+\-@\t\r])/, "'").replaceAll('"', '""')}"`).join(",")}\r\n`;

const toLine = (
  user: ImportedUser,
  outcome: NonNullable<Outcome["results"]>[number] | undefined,
): ImportLine => ({
  user,
  refusal: outcome?.refusal ?? null,
  userId: outcome?.user_id ?? null,
});
