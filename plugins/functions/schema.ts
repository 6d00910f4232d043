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
  /** What its author asks administrators for. */
  pending: z
    .object({
      active: z.boolean().optional(),
      global: z.boolean().optional(),
      reasons: z.array(z.string()),
      asked_at: z.int(),
    })
    .nullable(),
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
    /** The version that was changed: 409 when another one was stored meanwhile. */
    version_id: z.string().max(20).optional(),
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

export const OrderForm = z.object({ ids: z.array(z.string().max(256)).max(1_000) });
export const Ordered = z.array(z.object({ id: z.string(), priority: z.number() }));

export const GroupsForm = z.object({ group_ids: z.array(z.string().max(256)).max(1_000) });

/** The version that the administrator has read. */
export const ApprovalForm = z.object({ version_id: z.string().max(20) });

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

/** Where and why code failed. */
export const CodeError = z.object({
  kind: z.string(),
  message: z.string(),
  line: z.int().nullable(),
  column: z.int().nullable(),
});

export const CheckForm = z.object({ content: z.string().max(maxContent) });

/** What unsaved code declares; `error` where it does not load, the rest is then empty. */
export const CheckResult = z
  .object({
    type: Type.nullable(),
    hooks: z.array(z.string()),
    description: z.string(),
    priority: z.number().nullable(),
    toggle: z.boolean(),
    capabilities: z.object({ fetch: z.array(z.string()), complete: z.boolean(), storage: z.boolean() }),
    /** JSON Schemas, null where it has none. */
    valves: Bag.nullable(),
    user_valves: Bag.nullable(),
    error: CodeError.nullable(),
  })
  .meta({ id: "FunctionCheck" });
export type CheckResult = z.output<typeof CheckResult>;

/** One call of a hook: what is tried, and what a sample keeps. */
const trial = {
  hook: z.enum(["inlet", "stream", "outlet", "pipe", "pipes", "action", "event"]),
  /** The first argument of the hook: a request, a chunk (or a list of chunks), a conversation or an event. */
  body: z.unknown().optional(),
  valves: Bag.optional(),
  user_valves: Bag.optional(),
  metadata: Bag.optional(),
  /** Sub id of a pipe or an action with several. */
  id: z.string().max(256).optional(),
};

export const DryRunForm = z
  .object({ content: z.string().max(maxContent), ...trial })
  .meta({ id: "FunctionDryRunForm" });
export type DryRunForm = z.output<typeof DryRunForm>;

/** What a trial of code of any kind tells. */
export const DryRunTrace = z.object({
  /** The result of what was called; null when it failed or gave nothing. A stream hook and a generator give a list. */
  result: z.unknown(),
  error: CodeError.nullable(),
  log: LogLines.shape.lines,
  /** Events that the code emitted; they were not sent. */
  events: z.array(Bag),
  /** What the code asked of its host, in order. */
  calls: z.array(
    z.object({ name: z.string(), about: z.string(), ms: z.number(), error: z.string().nullable() }),
  ),
  /** Milliseconds of the call, loading left out. */
  time_ms: z.number(),
  load_ms: z.number(),
});

export const DryRunResult = DryRunTrace.extend({ type: Type.nullable() }).meta({ id: "FunctionDryRun" });
export type DryRunResult = z.output<typeof DryRunResult>;

export const Valves = Bag;
export const ValvesSpec = Bag.nullable();
export const IdParams = z.object({ id: z.string().min(1).max(256) });
export const VersionParams = IdParams.extend({
  version: z.coerce.number().int().min(1).max(2_147_483_647),
});
export const LoadUrl = z.object({ url: z.string().min(1).max(2_000) });

export const SampleParams = IdParams.extend({ sample: z.string().min(1).max(64) });
const { id: _sub, ...sampled } = trial;
export const SampleForm = z
  .object({ ...sampled, name: z.string().trim().min(1).max(200), expected: z.unknown() })
  .meta({ id: "FunctionSampleForm" });
export type SampleForm = z.output<typeof SampleForm>;
export const Sample = z
  .object({ ...sampled, id: z.string(), name: z.string(), expected: z.unknown(), created_at: z.int() })
  .meta({ id: "FunctionSample" });
export const SampleRunForm = z.object({ content: z.string().max(maxContent).optional() });
export const SampleRun = z
  .object({
    id: z.string(),
    name: z.string(),
    passed: z.boolean(),
    result: z.unknown(),
    error: CodeError.nullable(),
    time_ms: z.number(),
  })
  .meta({ id: "FunctionSampleRun" });
export type SampleRun = z.output<typeof SampleRun>;
