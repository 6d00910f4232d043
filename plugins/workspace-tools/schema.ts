import { z } from "zod";
import { CodeError, DryRunTrace, maxContent } from "#plugins/functions/service.ts";

const Bag = z.record(z.string(), z.unknown());
const Grant = z.object({
  principal_type: z.enum(["user", "group", "anyone"]),
  principal_id: z.string().max(256),
  permission: z.enum(["read", "write"]),
});
const Spec = z.object({ name: z.string(), description: z.string(), parameters: Bag });
const Person = z.object({ id: z.string(), name: z.string(), email: z.string(), role: z.string() });

const Pending = z.object({ reasons: z.array(z.string()), asked_at: z.int() }).nullable();

const facts = {
  id: z.string(),
  user_id: z.string(),
  name: z.string(),
  /** description, manifest (header comment and `meta`), has_valves, has_user_valves */
  meta: Bag,
  specs: z.array(Spec),
  access_grants: z.array(z.looseObject(Grant.shape)),
  write_access: z.boolean(),
  /** False while it waits for an administrator, or the server took it out of use. */
  is_usable: z.boolean(),
  /** Told to those who may change it, as the three below. */
  version_id: z.string().optional(),
  error: z.string().nullable().optional(),
  pending: Pending.optional(),
  created_at: z.int(),
  updated_at: z.int(),
};

/** A tool as lists show it. */
export const ToolItem = z.object({ ...facts, user: Person.nullable() }).meta({ id: "WorkspaceToolItem" });
/** A tool; its code is there for those who may change it. */
export const ToolRecord = z
  .object({ ...facts, content: z.string().optional() })
  .meta({ id: "WorkspaceTool" });

const GivenMeta = z.looseObject({ description: z.string().max(10_000).nullish() });
const Name = z.string().trim().min(1).max(500);

export const ToolForm = z
  .object({
    /** Its form is checked by the rule that answers 400. */
    id: z.string(),
    name: Name,
    content: z.string().max(maxContent),
    meta: GivenMeta.default({}),
    access_grants: z.array(Grant).max(1_000).nullish(),
  })
  .meta({ id: "WorkspaceToolForm" });
export type ToolForm = z.output<typeof ToolForm>;

/** Unlike on creation the id stands in the path; one in the body is ignored. */
export const ToolUpdate = z
  .object({
    name: Name,
    content: z.string().max(maxContent),
    meta: GivenMeta.optional(),
    access_grants: z.array(Grant).max(1_000).nullish(),
    /** The version that was changed: 409 when another one was stored meanwhile. */
    version_id: z.string().max(20).optional(),
  })
  .meta({ id: "WorkspaceToolUpdate" });
export type ToolUpdate = z.output<typeof ToolUpdate>;

export const AccessForm = z.object({ access_grants: z.array(Grant).max(1_000) });
export const ApprovalForm = z.object({ version_id: z.string().max(20) });

export const ToolVersion = z
  .object({
    version: z.int(),
    user_id: z.string(),
    user: Person.nullable(),
    created_at: z.int(),
    is_current: z.boolean(),
  })
  .meta({ id: "WorkspaceToolVersion" });
export const ToolVersionContent = z
  .object({ version: z.int(), user_id: z.string(), created_at: z.int(), content: z.string() })
  .meta({ id: "WorkspaceToolVersionContent" });

export const CheckForm = z.object({ content: z.string().max(maxContent) });
/** What unsaved code declares; `error` where it does not load, the rest is then empty. */
export const CheckResult = z
  .object({
    specs: z.array(Spec.extend({ parallel: z.boolean() })),
    description: z.string(),
    capabilities: z.object({ fetch: z.array(z.string()), complete: z.boolean(), storage: z.boolean() }),
    /** JSON Schemas, null where it has none. */
    valves: Bag.nullable(),
    user_valves: Bag.nullable(),
    error: CodeError.nullable(),
  })
  .meta({ id: "WorkspaceToolCheck" });
export type CheckResult = z.output<typeof CheckResult>;

export const TrialForm = z
  .object({
    content: z.string().max(maxContent),
    /** The function to call. */
    name: z.string().min(1).max(64),
    parameters: Bag.default({}),
    valves: Bag.optional(),
    user_valves: Bag.optional(),
  })
  .meta({ id: "WorkspaceToolTrialForm" });
export type TrialForm = z.output<typeof TrialForm>;

export const TrialResult = DryRunTrace.extend({
  /** What the model would read; null when the call failed. */
  text: z.string().nullable(),
  files: z.array(z.object({ name: z.string(), content_type: z.string(), data: z.string() })),
  embeds: z.array(z.string()),
}).meta({ id: "WorkspaceToolTrial" });
export type TrialResult = z.output<typeof TrialResult>;
