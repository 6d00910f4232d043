import { z } from "zod";

const Bag = z.record(z.string(), z.unknown());
const Id = z.string().min(1).max(200);
const Terminal = z.object({ server_id: Id, cwd: z.string().max(4_096).nullish() });
const Data = z.object({
  prompt: z.string().trim().min(1).max(100_000),
  model_id: Id,
  rrule: z.string(),
  terminal: Terminal.nullish(),
});

export const AutomationForm = z
  .object({
    name: z.string().trim().min(1).max(200),
    folder_id: Id.nullish(),
    data: Data,
    meta: Bag.nullish(),
    is_active: z.boolean().default(true),
  })
  .meta({ id: "AutomationForm" });
export type AutomationForm = z.output<typeof AutomationForm>;

/** What is left out stays as it is. */
export const AutomationUpdate = z
  .object({
    name: AutomationForm.shape.name.optional(),
    folder_id: Id.nullish(),
    data: Data.partial().optional(),
    meta: Bag.nullish(),
    is_active: z.boolean().optional(),
  })
  .meta({ id: "AutomationUpdate" });
export type AutomationUpdate = z.output<typeof AutomationUpdate>;

export const RunRecord = z
  .object({
    id: z.string(),
    automation_id: z.string(),
    chat_id: z.string().nullable(),
    status: z.enum(["success", "error"]),
    error: z.string().nullable(),
    created_at: z.int(),
  })
  .meta({ id: "AutomationRun" });

export const AutomationRecord = z
  .object({
    id: z.string(),
    user_id: z.string(),
    folder_id: z.string().nullable(),
    name: z.string(),
    data: z.looseObject({ prompt: z.string(), model_id: z.string(), rrule: z.string() }),
    meta: Bag.nullable(),
    is_active: z.boolean(),
    last_run_at: z.int().nullable(),
    next_run_at: z.int().nullable(),
    created_at: z.int(),
    updated_at: z.int(),
    last_run: RunRecord.nullable(),
    /** Epoch seconds of the next five runs; empty while it is paused. */
    next_runs: z.array(z.int()),
  })
  .meta({ id: "Automation" });
export type AutomationRecord = z.output<typeof AutomationRecord>;
export const AutomationPage = z.object({ items: z.array(AutomationRecord), total: z.int() });

export const NextRunsQuery = z.object({ rrule: z.string().max(10_000) });
export const NextRuns = z
  .object({
    /** Epoch seconds of the next five runs that the rule would have. */
    next_runs: z.array(z.int()),
    /** IANA zone of the caller's account, in which the rule counts. */
    time_zone: z.string(),
  })
  .meta({ id: "AutomationNextRuns" });

export const IdParams = z.object({ id: z.string().max(200) });
export const ListQuery = z.object({
  query: z.string().max(500).optional(),
  status: z.enum(["active", "paused"]).optional(),
  folder_id: z.string().max(200).optional(),
  page: z.coerce.number().int().min(1).max(1_000_000).default(1),
});
export type ListQuery = z.output<typeof ListQuery>;
export const RunsQuery = z.object({
  skip: z.coerce.number().int().min(0).max(1_000_000).default(0),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});
