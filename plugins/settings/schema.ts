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
  /** Title of the plugin that declares it. */
  owner_title: z.string(),
  group: z.string().nullable(),
  text: z.string(),
  persisted: z.boolean(),
  secret: z.boolean(),
  default: z.unknown(),
  value: z.unknown(),
  source: z.enum(["environment", "stored", "default"]),
  /** What the environment states, null where it states nothing. */
  environment_value: z.unknown(),
  in_environment: z.boolean(),
  /** The environment states another value than the one in force. */
  environment_differs: z.boolean(),
  /** Whether a stored secret is encrypted; null for what is no secret or is not stored. */
  encrypted: z.boolean().nullable(),
  /** Places inside the value whose secret cannot be read and has to be entered again; "" is the value itself. */
  enter_again: z.array(z.string()),
  /** Sentences for administrators, such as that a secret has to be entered again. */
  notices: z.array(z.string()),
  read_only: z.boolean(),
  /** Why it cannot be changed while running, in words that follow its name. */
  locked: z.string().nullable(),
  /** Changes with each stored change; a change that names the version it saw is refused when there is another. */
  version: z.number().int(),
  /** The words that the value can be. */
  choices: z.array(z.string()).nullable(),
  min: z.number().nullable(),
  max: z.number().nullable(),
  changed_by: z.string().nullable(),
  changed_by_name: z.string().nullable(),
  changed_at: z.number().int().nullable(),
});
export type SettingRecord = z.output<typeof SettingRecord>;

const Name = z.string().min(1).max(200);

/** One change: a value, or the way back to the environment's or the default. */
const Change = z
  .object({
    name: Name,
    value: z.unknown().optional(),
    reset: z.boolean().default(false),
    version: z.number().int().nonnegative().optional().describe("The version that was seen"),
  })
  .refine(({ value, reset }) => reset || value !== undefined, "needs a value, or reset");
export const Changes = z.object({ changes: z.array(Change).min(1).max(1000) });
export type Changes = z.output<typeof Changes>;

const Side = z.object({ value: z.unknown(), source: z.enum(["environment", "stored", "default"]) });

/** One change of a setting; secrets are masked. */
export const SettingHistory = z.object({
  id: z.number().int(),
  changed_at: z.number().int(),
  changed_by: z.string().nullable(),
  changed_by_name: z.string().nullable(),
  address: z.string().nullable(),
  client: z.string().nullable(),
  before: Side,
  after: Side,
  /** False where secrets are masked: such a value cannot be brought back. */
  restorable: z.boolean(),
});
export type SettingHistory = z.output<typeof SettingHistory>;

export const Restore = z.object({
  record: z.number().int().positive().describe("Id of the change in the history"),
  side: z.enum(["before", "after"]).default("after").describe("The value before or after that change"),
  version: z.number().int().nonnegative().optional(),
});
export type Restore = z.output<typeof Restore>;

/** What an import would do. */
export const ImportPreview = z.object({
  changes: z.array(z.object({ key: z.string(), name: z.string(), before: z.unknown(), after: z.unknown() })),
  unchanged: z.array(z.string()),
  refused: z.array(z.object({ key: z.string(), name: z.string(), reason: z.string() })),
  ignored: z.array(z.string()),
});
export type ImportPreview = z.output<typeof ImportPreview>;

export const Values = z.record(z.string().max(200), z.unknown());
