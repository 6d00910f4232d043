import { t } from "../i18n/index.svelte.ts";
import { server } from "../server.ts";

/** What an enrolment answers: null where codes of an earlier one are left. */
export interface Enrolled {
  readonly recovery_codes: readonly string[] | null;
}

/** True when this browser makes passkeys at this address: not without encryption, and not at a number. */
export const hasPasskeys = (): boolean =>
  isSecureContext && typeof PublicKeyCredential !== "undefined" && !/^[\d.]+$|^\[/.test(location.hostname);

/** Makes a passkey in the browser and adds it to the account; within a sign-in, to that of its `token`. */
export async function makePasskey(name: string, token?: string): Promise<Enrolled> {
  const given = { challenge_token: token };
  const asked = await server.call("POST /api/v1/auths/mfa/passkeys/options", { body: given });
  const { startRegistration } = await import("@simplewebauthn/browser");
  const response = await startRegistration({ optionsJSON: asked.options as never }).catch(tell);
  const body = { challenge_token: asked.challenge_token, name, response: response as never };
  return (await server.call("POST /api/v1/auths/mfa/passkeys", { body })) as Enrolled;
}

/** Lets the browser sign what a passkey is asked with. `suggests` offers it in the field of the address instead of a dialog. */
export async function askPasskey(token?: string, suggests = false) {
  const asked = await server.call("POST /api/v1/auths/mfa/passkey/options", {
    body: { challenge_token: token },
  });
  const { startAuthentication } = await import("@simplewebauthn/browser");
  const options = { optionsJSON: asked.options as never, useBrowserAutofill: suggests };
  const response = await startAuthentication(options).catch(tell);
  return { challenge_token: asked.challenge_token, response: response as never };
}

/** Signs in with a passkey, alone or as the second step. */
export async function signInWithPasskey(token?: string, suggests = false): Promise<unknown> {
  return await server.call("POST /api/v1/auths/mfa/passkey", { body: await askPasskey(token, suggests) });
}

/** True when the browser offers passkeys in the field of the address. */
export async function suggestsPasskeys(): Promise<boolean> {
  return hasPasskeys() && (await (await import("@simplewebauthn/browser")).browserSupportsWebAuthnAutofill());
}

/** Browsers say in their own language, or not at all, why nothing came of it. */
function tell(error: unknown): never {
  const name = (error as Error).name;
  if (name === "AbortError") {
    throw error;
  }
  throw new Error(
    name === "InvalidStateError"
      ? t("This device has a passkey of your account already.")
      : name === "NotAllowedError"
        ? t("The browser was given no passkey. Try again, or use another way.")
        : t("The browser could not use a passkey: {reason}", { reason: (error as Error).message }),
  );
}
