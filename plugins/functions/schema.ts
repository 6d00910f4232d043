import { z } from "zod";

/** Longest source in characters. */
export const maxContent = 512 * 1024;

const Type = z.enum(["pipe", "filter", "action", "event"]);
const Bag = z.record(z.string(), z.unknown());

const facts = {
  id: z.string(),
  user_id: z.string(),
  name: z.string(),
  type: Type,
  /** description, manifest (header comment and `meta`), toggle, has_valves, has_user_valves */
  meta: Bag,
  is_active: z.boolean(),
  is_global: z.boolean(),
  /** Version of its code, as `versions` lists it. */
  version_id: z.string(),
  /** Why the server switched it off. */
  error: z.string().nullable(),
  created_at: z.int(),
  updated_at: z.int(),
};

const Person = z.object({ id: z.string(), name: z.string(), email: z.string(), role: z.string() });

/** A function as lists show it: without its code. */
export const FunctionItem = z.object(facts).meta({ id: "FunctionItem" });
export const OwnedFunctionItem = z
  .object({ ...facts, user: Person.nullable() })
  .meta({ id: "OwnedFunctionItem" });
export const FunctionRecord = z.object({ ...facts, content: z.string() }).meta({ id: "Function" });
/** An exported function; valves only when they were asked for. */
export const FunctionExport = z
  .object({ ...facts, content: z.string(), valves: Bag.optional() })
  .meta({ id: "FunctionExport" });

const GivenMeta = z.looseObject({ description: z.string().max(10_000).nullish() });

/** Its form is checked by the rule that answers 400. */
const Id = z.string();

export const FunctionForm = z
  .object({
    id: Id,
    name: z.string().trim().min(1).max(500),
    content: z.string().max(maxContent),
    meta: GivenMeta.default({}),
  })
  .meta({ id: "FunctionForm" });
export type FunctionForm = z.output<typeof FunctionForm>;

/** Unlike on creation the id stands in the path; one in the body is ignored. */
export const FunctionUpdate = z
  .object({
    name: z.string().trim().min(1).max(500),
    content: z.string().max(maxContent),
    meta: GivenMeta.optional(),
  })
  .meta({ id: "FunctionUpdate" });
export type FunctionUpdate = z.output<typeof FunctionUpdate>;

/** A function of an export; type and the server's own fields are worked out anew. */
export const SyncedFunction = z
  .object({
    id: Id,
    name: z.string().trim().min(1).max(500),
    content: z.string().max(maxContent),
    meta: GivenMeta.optional(),
    is_active: z.boolean().optional(),
    is_global: z.boolean().optional(),
    valves: Bag.nullish(),
  })
  .meta({ id: "SyncedFunction" });
export type SyncedFunction = z.output<typeof SyncedFunction>;

export const SyncForm = z.object({ functions: z.array(SyncedFunction).max(2_000) });

export const FunctionVersion = z
  .object({
    version: z.int(),
    user_id: z.string(),
    user: Person.nullable(),
    created_at: z.int(),
    is_current: z.boolean(),
  })
  .meta({ id: "FunctionVersion" });
export const FunctionVersionContent = z
  .object({ version: z.int(), user_id: z.string(), created_at: z.int(), content: z.string() })
  .meta({ id: "FunctionVersionContent" });

export const LogLines = z.object({
  lines: z.array(
    z.object({ at: z.number(), level: z.enum(["debug", "info", "warn", "error"]), text: z.string() }),
  ),
});

export const DryRunForm = z
  .object({
    content: z.string().max(maxContent),
    hook: z.enum(["inlet", "stream", "outlet", "pipe", "pipes", "action", "event"]),
    /** The first argument of the hook: a request, a chunk (or a list of chunks), a conversation or an event. */
    body: z.unknown().optional(),
    valves: Bag.optional(),
    user_valves: Bag.optional(),
    metadata: Bag.optional(),
    /** Sub id of a pipe or an action with several. */
    id: z.string().max(256).optional(),
  })
  .meta({ id: "FunctionDryRunForm" });
export type DryRunForm = z.output<typeof DryRunForm>;

export const DryRunResult = z
  .object({
    /** The result of the hook; null when it failed or gave nothing. A stream hook and a generator give a list. */
    result: z.unknown(),
    type: Type.nullable(),
    error: z
      .object({
        kind: z.string(),
        message: z.string(),
        line: z.int().nullable(),
        column: z.int().nullable(),
      })
      .nullable(),
    log: LogLines.shape.lines,
    /** Events that the code emitted; they were not sent. */
    events: z.array(Bag),
    /** Milliseconds of the call, loading left out. */
    time_ms: z.number(),
    load_ms: z.number(),
  })
  .meta({ id: "FunctionDryRun" });
export type DryRunResult = z.output<typeof DryRunResult>;

export const Valves = Bag;
export const ValvesSpec = Bag.nullable();
export const IdParams = z.object({ id: z.string().min(1).max(256) });
export const VersionParams = IdParams.extend({
  version: z.coerce.number().int().min(1).max(2_147_483_647),
});
export const LoadUrl = z.object({ url: z.string().min(1).max(2_000) });
