import { z } from "zod";

const Name = z.string().min(1).max(256);
const Time = z.coerce.number().int().nonnegative().max(Number.MAX_SAFE_INTEGER);

/** Filters of the record; every one has to fit. */
export const AuditFilter = z.object({
  action: Name.optional().describe("Name of an action, such as user.updated"),
  object_type: Name.optional(),
  object_id: z.string().min(1).max(500).optional(),
  actor_id: Name.optional(),
  query: z.string().max(200).optional().describe("Part of the object's id or name"),
  since: Time.optional().describe("Epoch seconds of the earliest record"),
  until: Time.optional().describe("Epoch seconds of the latest record"),
});
export type AuditFilter = z.output<typeof AuditFilter>;

export const AuditListQuery = AuditFilter.extend({
  before_id: Time.optional().describe("The id at which the page before this one ended"),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});
export type AuditListQuery = z.output<typeof AuditListQuery>;

export const AuditRecordShape = z.object({
  id: z.number().int(),
  created_at: z.number().int(),
  actor_id: z.string().nullable(),
  actor_name: z.string().nullable(),
  actor_role: z.string().nullable(),
  action: z.string(),
  object_type: z.string(),
  object_id: z.string(),
  object_name: z.string().nullable(),
  before: z.unknown(),
  after: z.unknown(),
  complete: z.boolean(),
  address: z.string().nullable(),
  client: z.string().nullable(),
  request_id: z.string().nullable(),
});

/** One page, the latest record first; `next` is the `before_id` of the page behind it. */
export const AuditPage = z.object({
  records: z.array(AuditRecordShape),
  next: z.number().int().nullable(),
});
export type AuditPage = z.output<typeof AuditPage>;

export const AuditChoices = z.object({
  actions: z.array(z.string()),
  object_types: z.array(z.string()),
  actors: z.array(z.object({ id: z.string(), name: z.string() })),
});
export type AuditChoices = z.output<typeof AuditChoices>;
