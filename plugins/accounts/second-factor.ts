import type { Role } from "#kernel/access/principal.ts";
import type { Slot } from "#kernel/service.ts";
import type { AuthMethod } from "./sessions/session.ts";

/** The answer of a sign-in whose session has to wait: for a second factor (contract 1.2, MFA), or an own password. */
export type NextStep =
  | {
      readonly next_step: "enroll" | "verify" | "recover";
      /** `<user id>.<random>`; opens nothing but the next step. */
      readonly challenge_token: string;
      /** Seconds. */
      readonly expires_in: number;
      /** What the step can be done with. */
      readonly methods: readonly ("totp" | "recovery_code" | "passkey")[];
    }
  /** The account waits for an administrator. */
  | { readonly next_step: "pending" }
  /** Token to choose another password with, since an administrator knows the present one. */
  | { readonly next_step: "password"; readonly invitation: string; readonly expires_in: number };

/** An account whose first step of a sign-in is done. */
export interface FactorAccount {
  readonly id: string;
  readonly role: Role;
  readonly groupIds: readonly string[];
  /** Of its sessions at the time. */
  readonly stamp: string;
}

/** Asks for a second proof before a session starts. */
export interface SecondFactor {
  /** Resolves to undefined where the session starts at once. */
  nextStep(account: FactorAccount, method: AuthMethod): Promise<NextStep | undefined>;
  /** True when sessions of the account that began without a second factor are refused. */
  isDemanded(account: Pick<FactorAccount, "role" | "groupIds">, method: AuthMethod): boolean;
}

/** Unites the second factors that plugins bring; none asks for nothing. */
export function uniteSecondFactors(slot: Slot<SecondFactor>): SecondFactor {
  return {
    async nextStep(account, method) {
      for (const each of slot.list()) {
        const step = await each.nextStep(account, method);
        if (step !== undefined) {
          return step;
        }
      }
      return undefined;
    },
    isDemanded: (account, method) => slot.list().some((each) => each.isDemanded(account, method)),
  };
}

/** Cookie that carries a waiting sign-in over redirects and reloads; readable by the server alone. */
export const challengeCookie = "sign_in_step";
