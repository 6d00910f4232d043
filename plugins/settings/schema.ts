import { z } from "zod";

/** A note that is shown to everybody (configuration document, WEBUI_BANNERS). */
export const Banner = z.object({
  id: z.string().min(1).max(200),
  type: z.enum(["info", "success", "warning", "error"]),
  title: z.string().max(1000).default(""),
  content: z.string().max(20_000),
  dismissible: z.boolean().default(true),
  timestamp: z.number().int().nonnegative(),
});
export type Banner = z.output<typeof Banner>;

/** A prompt offered on an empty chat: two lines of title and the text it starts with. */
export const Suggestion = z.object({
  title: z.tuple([z.string().max(500), z.string().max(500)]),
  content: z.string().max(20_000),
});
export type Suggestion = z.output<typeof Suggestion>;

/** A variable as the settings routes show it; a secret that is set shows as a mask. */
export const SettingRecord = z.object({
  name: z.string(),
  key: z.string().nullable(),
  kind: z.string(),
  owner: z.string(),
  group: z.string().nullable(),
  text: z.string(),
  persisted: z.boolean(),
  secret: z.boolean(),
  default: z.unknown(),
  value: z.unknown(),
  source: z.enum(["environment", "stored", "default"]),
  /** The environment states another value than the one in force. */
  environment_differs: z.boolean(),
  /** Whether a stored secret is encrypted; null for what is no secret or is not stored. */
  encrypted: z.boolean().nullable(),
  /** Places inside the value whose secret cannot be read and has to be entered again; "" is the value itself. */
  enter_again: z.array(z.string()),
  /** Sentences for administrators, such as that a secret has to be entered again. */
  notices: z.array(z.string()),
  read_only: z.boolean(),
  changed_by: z.string().nullable(),
  changed_by_name: z.string().nullable(),
  changed_at: z.number().int().nullable(),
});
export type SettingRecord = z.output<typeof SettingRecord>;

export const Values = z.record(z.string().max(200), z.unknown());
