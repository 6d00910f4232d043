import { z } from "zod";

/** An e-mail address in lower case; intranet addresses without a dot, such as admin@localhost, are addresses too. */
export const Email = z
  .string()
  .trim()
  .toLowerCase()
  .max(320)
  .pipe(z.email({ pattern: z.regexes.html5Email }));

const Name = z.string().trim().min(1).max(200);
// Longer than any algorithm needs; the algorithm's own limit is told in words.
const Password = z.string().max(4096);
const Picture = z.string().default("/user.png");

export const SignInForm = z.object({ email: z.string().max(320), password: Password });
export type SignInForm = z.output<typeof SignInForm>;

export const SignUpForm = z.object({
  name: Name,
  email: Email,
  password: Password,
  profile_image_url: Picture,
});
export type SignUpForm = z.output<typeof SignUpForm>;

export const AddForm = SignUpForm.extend({
  password: Password.nullable().describe("null: the person chooses it by an invitation"),
  role: z.enum(["pending", "user", "admin"]).default("pending"),
  change_password: z.boolean().default(false).describe("The first sign-in asks for an own password"),
});
export type AddForm = z.output<typeof AddForm>;

const Token = z.string().min(1).max(200);
export const InvitationToken = z.object({ token: Token });
export const InvitationForm = z.object({ token: Token, password: Password });

export const PasswordForm = z.object({ password: Password, new_password: Password });
export type PasswordForm = z.output<typeof PasswordForm>;

export const ProfileForm = z.object({
  name: Name,
  profile_image_url: z.string(),
  bio: z.string().max(5000).nullish(),
  gender: z.string().max(100).nullish(),
  date_of_birth: z.iso.date().nullish(),
});
export type ProfileForm = z.output<typeof ProfileForm>;

export const TimezoneForm = z.object({ timezone: z.string().max(100) });

const Tree = z.record(z.string(), z.record(z.string(), z.boolean()));

/** Answer of every way to sign in (contract 1.2). */
export const SessionObject = z
  .object({
    token: z.string(),
    token_type: z.literal("Bearer"),
    expires_at: z.number().nullable(),
    id: z.string(),
    email: z.string(),
    name: z.string(),
    role: z.string(),
    profile_image_url: z.string(),
    permissions: Tree,
  })
  .meta({ id: "Session" });
export type SessionObject = z.output<typeof SessionObject>;

/** Answer of a sign-in that something has to complete: a second factor (contract 1.2, MFA), or an own password. */
export const NextStep = z
  .union([
    z.object({
      next_step: z.enum(["enroll", "verify", "recover"]),
      challenge_token: z.string(),
      expires_in: z.number(),
      methods: z.array(z.enum(["totp", "recovery_code", "passkey"])),
    }),
    z.object({ next_step: z.literal("pending") }),
    z.object({
      next_step: z.literal("password"),
      invitation: z.string().describe("For `POST /auths/invitation`, with the own password"),
      expires_in: z.number(),
    }),
  ])
  .meta({ id: "NextStep" });

export const SignedIn = z.union([SessionObject, NextStep]);

export const OwnAccount = SessionObject.extend({
  bio: z.string().nullable(),
  gender: z.string().nullable(),
  date_of_birth: z.string().nullable(),
  timezone: z.string().nullable(),
  status_emoji: z.string().nullable(),
  status_message: z.string().nullable(),
  status_expires_at: z.number().nullable(),
  viewer: z
    .object({ id: z.string(), name: z.string() })
    .optional()
    .describe("The administrator who views this account; left out in a session of its own"),
}).meta({ id: "OwnAccount" });

export const AddedAccount = SessionObject.omit({ expires_at: true, permissions: true }).meta({
  id: "AddedAccount",
});

export const Profile = z
  .object({
    id: z.string(),
    name: z.string(),
    email: z.string(),
    role: z.string(),
    profile_image_url: z.string(),
    bio: z.string().nullable(),
    gender: z.string().nullable(),
    date_of_birth: z.string().nullable(),
  })
  .meta({ id: "Profile" });
