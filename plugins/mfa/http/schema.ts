import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import { z } from "zod";

const Token = z
  .string()
  .max(2000)
  .optional()
  .describe("Left out, the one that this browser's sign-in waits with");
const Code = z
  .string()
  .max(100)
  .describe("Of the app, 6 digits; or a recovery code, with or without its dashes");
const text = z.string().max(20_000);
const extensions = z.record(z.string(), z.unknown()).default({});

const Made = z.looseObject({
  id: text,
  rawId: text,
  type: z.literal("public-key"),
  response: z.looseObject({
    clientDataJSON: text,
    attestationObject: text,
    transports: z.array(z.string().max(50)).max(10).optional(),
  }),
  clientExtensionResults: extensions,
});
const Used = z.looseObject({
  id: text,
  rawId: text,
  type: z.literal("public-key"),
  response: z.looseObject({
    clientDataJSON: text,
    authenticatorData: text,
    signature: text,
    userHandle: text.optional(),
  }),
  clientExtensionResults: extensions,
});

/** The answers of browsers; the library checks what is in them. */
export const toMade = (value: z.output<typeof Made>) => value as unknown as RegistrationResponseJSON;
export const toUsed = (value: z.output<typeof Used>) => value as unknown as AuthenticationResponseJSON;

export const TokenForm = z.object({ challenge_token: Token });
export const CodeForm = TokenForm.extend({ code: Code });
export const VerifyForm = TokenForm.extend({ code: Code.optional(), recovery_code: Code.optional() });
export const RecoverForm = TokenForm.extend({ reset_token: z.string().max(200) });
export const PasskeyForm = TokenForm.extend({
  name: z.string().trim().min(1).max(100).default("Passkey"),
  response: Made,
});
export const NameForm = z.object({ name: z.string().trim().min(1).max(100) });
export const UseForm = z.object({ challenge_token: Token, response: Used });
export const ProofForm = z.object({
  password: z.string().max(4096).optional(),
  code: Code.optional(),
  challenge_token: Token,
  response: Used.optional(),
});
export const ResetForm = z.object({ reason: z.string().trim().min(3).max(500) });
export const PasskeyParams = z.object({ id: z.string().min(1).max(1500) });

export const Enrolment = z
  .object({
    manual_key: z.string().describe("Base32, for apps that read no QR code"),
    qr_code: z.string().describe("SVG in a data URI"),
    challenge_token: z.string(),
    expires_in: z.number(),
  })
  .meta({ id: "Enrolment" });

export const Options = z.object({
  options: z.looseObject({ challenge: z.string() }),
  challenge_token: z.string(),
});
export const Codes = z.object({ recovery_codes: z.array(z.string()) });

const Passkey = z.object({
  id: z.string(),
  name: z.string(),
  is_synced: z.boolean(),
  created_at: z.number(),
  last_used_at: z.number().nullable(),
});

export const State = z
  .object({
    enabled: z.boolean(),
    required: z.boolean(),
    totp: z.object({ enrolled_at: z.number().nullable() }).nullable(),
    passkeys: z.array(Passkey),
    recovery_codes_left: z.number(),
    fresh_until: z.number().describe("Epoch seconds until which factors can be changed"),
    confirms_with: z
      .enum(["factor", "password", "sign_in"])
      .describe("What proves anew who uses the session"),
    passkeys_possible: z.boolean().describe("False while the platform is opened by a number"),
  })
  .meta({ id: "SecondFactorState" });

const Rules = {
  ENABLE_MFA: z.boolean(),
  MFA_ALLOW_OAUTH_BYPASS: z.boolean(),
  MFA_ALLOW_TRUSTED_HEADER_BYPASS: z.boolean(),
  MFA_REQUIRED_ROLES: z.array(z.enum(["user", "admin"])),
  MFA_REQUIRED_GROUPS: z.array(z.string().min(1).max(200)).max(1000),
};
export const Policy = z.object(Rules).meta({ id: "SecondFactorPolicy" });
export const PolicyForm = z.object(Rules).partial();

export const AccountQuery = z.object({
  query: z.string().max(200).default(""),
  state: z.enum(["all", "with", "without", "reset"]).default("all"),
  page: z.coerce.number().int().min(1).max(100_000).default(1),
});
export type AccountQuery = z.output<typeof AccountQuery>;

export const Accounts = z.object({
  accounts: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      email: z.string(),
      role: z.string(),
      totp: z.boolean(),
      passkeys: z.number(),
      recovery_codes_left: z.number(),
      reset_pending: z.boolean(),
      required: z.boolean(),
    }),
  ),
  total: z.number(),
  with_factor: z.number().describe("Of all accounts, whatever the search"),
  all: z.number(),
  asked: z
    .number()
    .describe("Accounts that have to have a factor while it is switched on, whatever the search"),
  asked_without_factor: z.number().describe("Those of them that have to set one up"),
});
export const ResetAnswer = z.object({ reset_token: z.string(), expires_at: z.number() });
