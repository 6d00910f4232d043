import type { Principal } from "#kernel/access/principal.ts";
import type { RequestInfo } from "#kernel/http/route.ts";
import type { MfaDeps } from "./deps.ts";
import { freshUntil } from "./manage.ts";
import { findRelyingParty } from "./passkeys/relying-party.ts";
import { isRequired } from "./policy.ts";
import { findHeld, hasFactor } from "./store.ts";

/** Epoch seconds until which the caller may change factors. */
export async function toFresh(deps: MfaDeps, caller: Principal): Promise<number> {
  return await freshUntil(deps, caller, await findHeld(deps.db, caller.userId));
}

/** The factors of the caller, without their secrets. */
export async function toState(deps: MfaDeps, caller: Principal, request: RequestInfo) {
  const held = await findHeld(deps.db, caller.userId);
  const { account, passkeys, recoveryCodes } = held;
  // A key may read what there is, and change nothing.
  const fresh = caller.session === null ? 0 : await freshUntil(deps, caller, held);
  return {
    enabled: deps.config.enabled,
    required: isRequired(deps.config, caller),
    totp: (account?.secret ?? null) === null ? null : { enrolled_at: account?.enrolled_at ?? null },
    passkeys: passkeys.map(({ id, name, is_synced, created_at, last_used_at }) => ({
      id,
      name,
      is_synced,
      created_at,
      last_used_at,
    })),
    recovery_codes_left: recoveryCodes,
    fresh_until: fresh,
    confirms_with: await toProof(deps, caller, hasFactor(held)),
    passkeys_possible: findRelyingParty(deps.config.publicUrl, request) !== undefined,
  };
}

/** Only who signed in with a password of the platform can prove it with that. */
async function toProof(deps: MfaDeps, caller: Principal, isFactor: boolean) {
  if (isFactor) {
    return "factor" as const;
  }
  const method = (await deps.sessions.proofs(caller))?.method;
  return method === "password" && deps.isPasswordOn() ? ("password" as const) : ("sign_in" as const);
}
