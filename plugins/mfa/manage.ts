import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { Reply, RequestInfo } from "#kernel/http/route.ts";
import { type AuthMethod, endSessions } from "#plugins/accounts/service.ts";
import { seconds } from "#storage/clock.ts";
import { attempt } from "./attempt.ts";
import type { MfaDeps } from "./deps.ts";
import { replaceRecoveryCodes } from "./factors/recovery-codes.ts";
import { isRequired } from "./policy.ts";
import { checkCode, requireOn, wrongCode } from "./sign-in.ts";
import { findHeld, hasFactor, type Held } from "./store.ts";
import type { MfaDatabase } from "./tables.ts";

const disabledAction = "auth.mfa.disabled";

/** Seconds for which a proof allows to change factors (contract 1.2). */
const freshSeconds = 300;

/**
 * Throws `forbidden` for API keys, and where the last proof of who uses the session is older than 5 minutes; of who has a
 * factor, the proof has to have been made with it (promise S105).
 */
export async function requireFresh(deps: MfaDeps, caller: Principal): Promise<Held> {
  requireOn(deps);
  const held = await findHeld(deps.db, caller.userId);
  if ((await freshUntil(deps, caller, held)) <= seconds()) {
    // The word itself is what clients look for (contract 1.2).
    throw new AppError("forbidden", "reauthentication_required");
  }
  return held;
}

/** Epoch seconds until which the caller may change factors; in the past when not. Throws `forbidden` for API keys. */
export async function freshUntil(
  { sessions }: Pick<MfaDeps, "sessions">,
  caller: Principal,
  held: Held,
): Promise<number> {
  const proofs = await sessions.proofs(caller);
  if (proofs === undefined) {
    throw new AppError("forbidden", "Factors are managed in a browser session, not with an API key.");
  }
  return ((hasFactor(held) ? proofs.factorAt : proofs.provedAt) ?? 0) + freshSeconds;
}

/** Proves once more who uses the session: by the password of who has no factor, else by a code. */
export async function reauthenticate(
  deps: MfaDeps,
  caller: Principal,
  { password, code }: { password?: string | undefined; code?: string | undefined },
): Promise<void> {
  requireOn(deps);
  const held = await findHeld(deps.db, caller.userId);
  await freshUntil(deps, caller, held);
  if (!hasFactor(held)) {
    await requirePassword(deps, caller, password);
  } else if (code === undefined) {
    throw new AppError("invalid", "Confirm with your second factor: the field code.");
  } else {
    await attempt(deps, {
      userId: caller.userId,
      wrong: wrongCode,
      check: (tx, account) => checkCode(deps, tx, { account, code }),
    });
  }
  await deps.sessions.noteProof(caller, hasFactor(held));
}

async function requirePassword(
  { sessions, isPasswordOn }: MfaDeps,
  { userId }: Principal,
  password: string | undefined,
): Promise<void> {
  if (!isPasswordOn() || password === undefined) {
    throw new AppError("invalid", "Confirm with your password (the field password), or sign in again.");
  }
  if (!(await sessions.isPassword(userId, password))) {
    throw new AppError("invalid", "The password is not right.");
  }
}

/** New recovery codes in place of all earlier ones. */
export async function renewRecoveryCodes(deps: MfaDeps, caller: Principal): Promise<string[]> {
  if (!hasFactor(await requireFresh(deps, caller))) {
    throw new AppError("invalid", "Set a second factor up first: recovery codes stand in for one.");
  }
  const codes = await deps.transaction((tx) => replaceRecoveryCodes(tx, caller.userId));
  deps.emit("auth.mfa.recovery_codes.regenerated", caller.userId);
  return codes;
}

/** Takes the code app, or one passkey, from the account; its other sessions end. */
export async function removeFactor(
  deps: MfaDeps,
  { caller, passkeyId }: { caller: Principal; passkeyId?: string },
  request: RequestInfo,
): Promise<Reply> {
  const held = await requireFresh(deps, caller);
  const kept = {
    account: passkeyId === undefined && held.account ? { ...held.account, secret: null } : held.account,
    passkeys: held.passkeys.filter(({ id }) => id !== passkeyId),
  };
  const isHeld =
    passkeyId === undefined
      ? (held.account?.secret ?? null) !== null
      : kept.passkeys.length < held.passkeys.length;
  if (!isHeld) {
    throw new AppError("not_found", "There is no such factor.");
  }
  const isLast = !hasFactor(kept);
  if (isLast && isRequired(deps.config, caller)) {
    throw new AppError(
      "forbidden",
      "A second factor is required for your account. Set another one up first.",
    );
  }
  const factor = passkeyId === undefined ? "totp" : "passkey";
  const method = ((await deps.sessions.proofs(caller))?.method ?? "password") as AuthMethod;
  const stamp = await deps.transaction(async (tx) => {
    await drop(tx, caller.userId, { passkeyId, isLast });
    const object = { type: "user", id: caller.userId, name: caller.name };
    await deps.record({ action: disabledAction, object, before: { factor }, by: caller.userId }, tx);
    return await endSessions(tx as never, caller.userId);
  });
  await deps.sessions.changed({ userId: caller.userId });
  deps.emit(disabledAction, caller.userId, { factor });
  return await deps.sessions.start({ id: caller.userId, stamp }, { method, request });
}

async function drop(
  tx: MfaDatabase,
  userId: string,
  { passkeyId, isLast }: { passkeyId: string | undefined; isLast: boolean },
): Promise<void> {
  if (passkeyId === undefined) {
    await tx
      .updateTable("mfa_account")
      .set({ secret: null, last_step: null, enrolled_at: null })
      .where("user_id", "=", userId)
      .execute();
  } else {
    await tx.deleteFrom("mfa_passkey").where("id", "=", passkeyId).where("user_id", "=", userId).execute();
  }
  if (isLast) {
    await tx.deleteFrom("mfa_recovery_code").where("user_id", "=", userId).execute();
  }
}
