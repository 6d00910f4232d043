import { z } from "zod";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { defineRoute } from "#kernel/http/route.ts";
import { AddForm } from "../sign-in/auth-schema.ts";
import type { SignUp } from "../sign-in/sign-up.ts";
import type { Passwords } from "../passwords/passwords.ts";
import type { AccountsDatabase } from "../tables.ts";
import { findTakenEmails } from "./users-directory.ts";

const Text = z.string().max(10_000).default("");
const Row = z.object({ name: Text, email: Text, password: Text, role: Text });
const ImportForm = z.object({ users: z.array(Row).min(1).max(5000), dry_run: z.boolean().default(false) });
type ImportForm = z.output<typeof ImportForm>;

const Line = z.object({
  email: z.string(),
  added: z.boolean().describe("In a dry run: would be added"),
  refusal: z.string().nullable(),
});
const ImportAnswer = z.object({ results: z.array(Line), added: z.number().int(), refused: z.number().int() });
type Line = z.output<typeof Line>;

/** Accounts that one import hashes passwords for; more take longer than a request should. */
const addedAtOnce = 100;

export interface UserImportParts {
  readonly db: AccountsDatabase;
  readonly passwords: Pick<Passwords, "requireAcceptable">;
  readonly signUp: Pick<SignUp, "add">;
}

/** `POST /users/import`: many accounts at once, or what would become of them. */
export function importRoute(parts: UserImportParts) {
  return defineRoute(
    {
      method: "POST",
      path: "/users/import",
      summary: "Add many accounts, at most 100 at once; `dry_run` tells what would be added and what refused",
      access: "admin",
      body: ImportForm,
      returns: ImportAnswer,
      fails: [400],
    },
    async ({ caller, body }) => {
      if (!body.dry_run && body.users.length > addedAtOnce) {
        throw new AppError("invalid", `Add at most ${addedAtOnce} accounts at once.`);
      }
      const results = await importUsers(parts, caller, body);
      const added = results.filter((line) => line.added).length;
      return { results, added, refused: results.length - added };
    },
  );
}

async function importUsers(parts: UserImportParts, caller: Principal, form: ImportForm): Promise<Line[]> {
  const addresses = form.users.map(({ email }) => email.trim().toLowerCase());
  const taken = await findTakenEmails(parts.db, addresses);
  const results: Line[] = [];
  for (const [index, row] of form.users.entries()) {
    const email = addresses[index] as string;
    const parsed = parse(row);
    let refusal = typeof parsed === "string" ? parsed : findRefusal(parts, parsed, taken);
    if (refusal === null && typeof parsed !== "string") {
      taken.set(email, "This e-mail address stands in the list twice.");
      refusal = form.dry_run ? null : await add(parts, caller, parsed);
    }
    results.push({ email, added: refusal === null, refusal });
  }
  return results;
}

function parse(row: z.output<typeof Row>): AddForm | string {
  const role = row.role.trim().toLowerCase();
  const { success, data, error } = AddForm.safeParse({ ...row, role: role === "" ? undefined : role });
  return success ? data : (words[String(error.issues[0]?.path[0])] ?? "This line cannot be read.");
}

const words: Readonly<Record<string, string>> = {
  name: "The name is missing or longer than 200 characters.",
  email: "This is no e-mail address.",
  password: "The password is longer than 4096 characters.",
  role: "The role must be user, admin or pending.",
};

function findRefusal(
  { passwords }: UserImportParts,
  account: AddForm,
  taken: ReadonlyMap<string, string>,
): string | null {
  const reason = taken.get(account.email);
  if (reason !== undefined) {
    return reason;
  }
  try {
    passwords.requireAcceptable(account.password);
    return null;
  } catch (error) {
    return toRefusal(error);
  }
}

async function add({ signUp }: UserImportParts, caller: Principal, account: AddForm): Promise<string | null> {
  try {
    await signUp.add(account, caller.userId);
    return null;
  } catch (error) {
    return toRefusal(error);
  }
}

/** What is no refusal of one account ends the import. */
function toRefusal(error: unknown): string {
  if (error instanceof AppError && (error.code === "invalid" || error.code === "conflict")) {
    return error.message;
  }
  throw error;
}
