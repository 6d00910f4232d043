import { Secret, TOTP } from "otpauth";
import { type App, type Call, startApp, type TestUser } from "#test/support/app.ts";

export const password = "Correct-horse-1";

/** An app of codes, as people have it on their phones: another program of the same library's own clock. */
export function openCodeApp(manualKey: string) {
  const totp = new TOTP({ secret: Secret.fromBase32(manualKey) });
  // One time for all codes: a step that ends meanwhile must not make two of them the same.
  const start = Date.now();
  return {
    /** The code of the step `offset` steps from now. */
    code: (offset = 0) => totp.generate({ timestamp: start + offset * 30_000 }),
  };
}

/** What calls the routes of the second factor. */
export function openSteps(app: App) {
  const post = (path: string, body: unknown = {}, more: Call = {}) =>
    app.call(`POST /api/v1/auths/${path}`, { body, ...more });
  const signIn = (email: string) => post("signin", { email, password });

  return {
    post,
    signIn,
    /** Sets a code app up within a sign-in; the code of the step before the present one, so that the present one is left. */
    async enrol({ email }: Pick<TestUser, "email">) {
      const { body: step } = await signIn(email);
      const { body: started } = await post("mfa/enroll", { challenge_token: step.challenge_token });
      const codes = openCodeApp(started.manual_key);
      const confirmed = await post("mfa/enroll/confirm", {
        challenge_token: started.challenge_token,
        code: codes.code(-1),
      });
      if (confirmed.status !== 200) {
        throw new Error(`the enrolment failed: ${confirmed.text}`);
      }
      return {
        codes,
        token: confirmed.body.token as string,
        recovery: confirmed.body.recovery_codes as string[],
      };
    },
  };
}

/** The platform with the second factor switched on, its administrator enrolled, and members who are not. */
export async function startFactorApp() {
  const app = await startApp();
  const steps = openSteps(app);
  const first = await app.admin();
  const members: TestUser[] = [];
  for (let count = 0; count < 9; count += 1) {
    members.push(await app.user());
  }
  const token = first.token;
  const on = await app.call("POST /api/v1/auths/admin/config/mfa", { token, body: { ENABLE_MFA: true } });
  if (on.status !== 200) {
    throw new Error(`the second factor could not be switched on: ${on.text}`);
  }
  const admin = (await steps.enrol(first)).token;
  return {
    app,
    steps,
    admin,
    /** A member who signed in before the second factor was switched on; each is given once. */
    member: () => members.pop() as TestUser,
    own: (bearer: string) => app.call("GET /api/v1/auths/mfa", { token: bearer }),
    settings: (body: unknown) => app.call("POST /api/v1/auths/admin/config/mfa", { token: admin, body }),
  };
}
