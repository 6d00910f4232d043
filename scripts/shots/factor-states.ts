import { Secret, TOTP } from "otpauth";
import type { Page } from "playwright-core";
import type { State } from "./state.ts";
import type { World } from "./world.ts";

const password = "Correct-horse-1";
let count = 0;

async function post({ url, token }: World, path: string, body: unknown): Promise<Record<string, string>> {
  const answer = await fetch(`${url}/api/v1/auths/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  });
  return (await answer.json()) as Record<string, string>;
}

/** Asks users, but not the administrator whose pictures are taken, for a second factor; adds somebody. */
async function addMember(world: World): Promise<string> {
  await post(world, "admin/config/mfa", { ENABLE_MFA: true, MFA_REQUIRED_ROLES: ["user"] });
  count += 1;
  const email = `grace${count}@mill.example`;
  await post(world, "add", { name: "Grace Miller", email, password, role: "user" });
  return email;
}

async function signIn(page: Page, email: string): Promise<void> {
  await page.goto("/auth");
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

/** The steps of a sign-in; taken without a session. */
export const factorSteps: readonly State[] = [
  {
    name: "factor-enrol",
    looks: ["desk-light", "phone-dark"],
    show: async (page, world) => {
      await signIn(page, await addMember(world));
      await page.getByRole("img", { name: "QR code" }).waitFor();
    },
  },
  {
    name: "factor-codes",
    looks: ["phone-light", "desk-dark"],
    show: async (page, world) => {
      await signIn(page, await addMember(world));
      const key = (await page.getByLabel("Key", { exact: true }).textContent()) ?? "";
      const totp = new TOTP({ secret: Secret.fromBase32(key.replaceAll(" ", "")) });
      await page.getByLabel("Code that the app shows").fill(totp.generate());
      await page.getByRole("button", { name: "Confirm" }).click();
      await page.getByRole("button", { name: "I saved them" }).waitFor();
    },
  },
  {
    name: "factor-verify",
    looks: ["desk-light", "phone-dark"],
    show: async (page, world) => {
      const email = await addMember(world);
      const step = await post(world, "signin", { email, password });
      const token = { challenge_token: step["challenge_token"] };
      const { manual_key: key = "" } = await post(world, "mfa/enroll", token);
      const code = new TOTP({ secret: Secret.fromBase32(key) }).generate();
      await post(world, "mfa/enroll/confirm", { ...token, code });
      await signIn(page, email);
      await page.getByLabel("Code", { exact: true }).fill("000000");
      await page.getByRole("button", { name: "Continue" }).click();
      await page.getByText("The code is not right").waitFor();
    },
  },
];

export const factorStates: readonly State[] = [
  {
    name: "factor-settings",
    show: async (page, world) => {
      await addMember(world);
      await page.goto("/settings/security");
      await page.getByText("Not set up.").waitFor();
    },
  },
  {
    name: "factor-proof",
    looks: ["desk-dark", "phone-light"],
    show: async (page, world) => {
      await addMember(world);
      await page.goto("/settings/security");
      await page.getByRole("button", { name: "Set up a code app" }).click();
      await page.getByRole("dialog").waitFor();
    },
  },
  {
    name: "factor-admin",
    show: async (page, world) => {
      await addMember(world);
      await page.goto("/admin/second-factor");
      await page.getByText("asked at the next sign-in").first().waitFor();
    },
  },
];
