import type { Selectable, Updateable } from "kysely";
import { z } from "zod";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { seconds } from "#storage/clock.ts";
import { toJson } from "#storage/values.ts";
import type { AccountsDeps } from "../deps.ts";
import { AddForm } from "../sign-in/auth-schema.ts";
import type { SignUp } from "../sign-in/sign-up.ts";
import type { AccountsDatabase, AccountsTables } from "../tables.ts";
import { findTakenEmails } from "./users-directory.ts";

const Text = z.string().max(10_000).default("");
const Row = z.object({
  name: Text,
  email: Text,
  password: Text.describe("Empty: the person chooses it by an invitation"),
  role: Text,
});
export const ImportForm = z.object({
  users: z.array(Row).min(1).max(5000),
  dry_run: z.boolean().default(false),
  change_password: z.boolean().default(false).describe("The first sign-in asks for an own password"),
});
export type ImportForm = z.output<typeof ImportForm>;

const Line = z.object({
  email: z.string(),
  added: z.boolean().describe("In a dry run: would be added"),
  refusal: z.string().nullable(),
  user_id: z.string().nullable(),
});
export type ImportLine = z.output<typeof Line>;

export const ImportRecord = z
  .object({
    id: z.string().nullable().describe("null for a dry run"),
    state: z.enum(["running", "done", "failed"]),
    total: z.number().int(),
    done: z.number().int(),
    added: z.number().int(),
    refused: z.number().int(),
    results: z.array(Line).nullable().describe("One for each account; null until the import has ended"),
  })
  .meta({ id: "UserImport" });
export type ImportRecord = z.output<typeof ImportRecord>;

export interface UserImportParts extends Pick<AccountsDeps, "db" | "log"> {
  readonly passwords: Pick<AccountsDeps["passwords"], "requireAcceptable">;
  readonly signUp: Pick<SignUp, "add">;
}

/** Seconds without a sign of life after which an import counts as ended with its process. */
const silence = 60;
/** How far an import is, is written so often at most. */
const savedEveryMs = 300;
/** Seconds that the outcome of an import is kept. */
const keptFor = 24 * 3600;

/** Imports of many accounts; passwords are held in memory alone, so that an import ends with its process. */
export interface UserImports {
  /** What would become of each account. */
  preview(form: ImportForm): Promise<ImportRecord>;
  /** Begins to add the accounts. */
  start(caller: Principal, form: ImportForm): Promise<ImportRecord>;
  /** How far an import is, on every replica. Throws `not_found`. */
  find(id: string): Promise<ImportRecord>;
}

/** Outcome of one account: its id, null in a dry run; or the reason of the refusal. */
type Outcome = { readonly userId: string | null } | { readonly refusal: string };

/** Creates the functions behind the import routes. */
export function createUserImports(parts: UserImportParts): UserImports {
  const { db, log } = parts;
  return {
    async preview(form) {
      const results: ImportLine[] = [];
      for await (const line of addEach(parts, form, async () => ({ userId: null }))) {
        results.push(line);
      }
      const added = results.filter((line) => line.added).length;
      const total = results.length;
      return { id: null, state: "done", total, done: total, added, refused: total - added, results };
    },
    async start(caller, form) {
      const row = {
        id: crypto.randomUUID(),
        user_id: caller.userId,
        total: form.users.length,
        done: 0,
        added: 0,
        state: "running" as const,
        results: null,
        updated_at: seconds(),
      };
      await db.insertInto("account_import").values(row).execute();
      run(parts, { caller, form, id: row.id }).catch(async (error: unknown) => {
        log.warn({ err: error }, "an import of accounts failed");
        await save(db, row.id, { state: "failed" }).catch(() => undefined);
      });
      return toRecord(row);
    },
    async find(id) {
      const row = await db.selectFrom("account_import").selectAll().where("id", "=", id).executeTakeFirst();
      if (row === undefined) {
        throw new AppError("not_found", "There is no such import.");
      }
      return toRecord(row);
    },
  };
}

/** Deletes the outcomes of imports of before. */
export async function sweepImports(db: AccountsDatabase): Promise<void> {
  await db
    .deleteFrom("account_import")
    .where("updated_at", "<", seconds() - keptFor)
    .execute();
}

async function run(
  parts: UserImportParts,
  { caller, form, id }: { caller: Principal; form: ImportForm; id: string },
): Promise<void> {
  const results: ImportLine[] = [];
  const counts = () => ({ done: results.length, added: results.filter((line) => line.added).length });
  let savedAt = Date.now();
  const add = async (account: AddForm) => ({ userId: (await parts.signUp.add(account, caller.userId)).id });
  for await (const line of addEach(parts, form, add)) {
    results.push(line);
    if (Date.now() - savedAt >= savedEveryMs) {
      savedAt = Date.now();
      await save(parts.db, id, counts());
    }
  }
  await save(parts.db, id, { ...counts(), state: "done", results: toJson(results) });
}

async function save(
  db: AccountsDatabase,
  id: string,
  changes: Updateable<AccountsTables["account_import"]>,
): Promise<void> {
  await db
    .updateTable("account_import")
    .set({ ...changes, updated_at: seconds() })
    .where("id", "=", id)
    .execute();
}

function toRecord(row: Selectable<AccountsTables["account_import"]>): ImportRecord {
  const { id, total, done, added, updated_at: updatedAt } = row;
  const isSilent = row.state === "running" && updatedAt < seconds() - silence;
  const results = row.results as ImportLine[] | null;
  return { id, state: isSilent ? "failed" : row.state, total, done, added, refused: done - added, results };
}

/** Runs `add` for each account that nothing speaks against, in their order. */
async function* addEach(
  { db, passwords }: Pick<UserImportParts, "db" | "passwords">,
  form: ImportForm,
  add: (account: AddForm) => Promise<Outcome>,
): AsyncGenerator<ImportLine> {
  const addresses = form.users.map(({ email }) => email.trim().toLowerCase());
  const taken = await findTakenEmails(db, addresses);
  for (const [index, row] of form.users.entries()) {
    const email = addresses[index] as string;
    const outcome = await readOutcome(async () => {
      const reason = taken.get(email);
      const account = parse(row, form);
      if (reason !== undefined) {
        throw new AppError("conflict", reason);
      }
      if (account.password !== null) {
        passwords.requireAcceptable(account.password);
      }
      taken.set(email, "This e-mail address is in the list twice.");
      return await add(account);
    });
    yield "refusal" in outcome
      ? { email, added: false, refusal: outcome.refusal, user_id: null }
      : { email, added: true, refusal: null, user_id: outcome.userId };
  }
}

function parse(row: ImportForm["users"][number], { change_password }: ImportForm): AddForm {
  const role = row.role.trim().toLowerCase();
  const password = row.password === "" ? null : row.password;
  const given = { ...row, password, role: role === "" ? undefined : role, change_password };
  const { success, data, error } = AddForm.safeParse(given);
  if (!success) {
    throw new AppError("invalid", words[String(error.issues[0]?.path[0])] ?? "This line can't be read.");
  }
  return data;
}

const words: Readonly<Record<string, string>> = {
  name: "Name is required and must be at most 200 characters.",
  email: "This is not an e-mail address.",
  password: "The password is longer than 4096 characters.",
  role: "The role must be user, admin or pending.",
};

/** A refusal of one account leaves the others; anything else ends the import. */
async function readOutcome(run: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof AppError && (error.code === "invalid" || error.code === "conflict")) {
      return { refusal: error.message };
    }
    throw error;
  }
}
