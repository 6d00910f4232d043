import { z } from "zod";

export const limits = { memories: 10_000, content: 4_000, path: 200, operations: 50, changes: 200 } as const;

export const MemoryType = z.enum(["user", "context"]);
export type MemoryType = z.output<typeof MemoryType>;

const Content = z.string().trim().min(1).max(limits.content);

/** Segments between slashes, such as `work/mill`; slashes at the ends are dropped, and nothing is left of none. */
export const MemoryPath = z
  .string()
  .max(limits.path)
  .transform((path) =>
    path
      .split("/")
      .map((part) => part.trim())
      .filter(Boolean)
      .join("/"),
  )
  .refine((path) => path.split("/").every((part) => part !== "." && part !== ".."), {
    error: "Segments `.` and `..` are no places.",
  });

/** The maker of a change, and the message it was made in. */
export const Origin = z
  .object({
    /** The person, a model's tool call, or the review after a reply. */
    by: z.enum(["person", "tool", "review"]),
    chat_id: z.string().optional(),
    message_id: z.string().optional(),
  })
  .meta({ id: "MemoryOrigin" });
export type Origin = z.output<typeof Origin>;

export const MemoryMeta = z
  .object({
    source: Origin,
    /** Learned while content of others was read: models see it only after the person's yes. */
    proposed: z.boolean().optional(),
  })
  .meta({ id: "MemoryMeta" });
export type MemoryMeta = z.output<typeof MemoryMeta>;

export const Memory = z
  .object({
    id: z.string(),
    user_id: z.string(),
    type: MemoryType,
    path: z.string().nullable(),
    content: z.string(),
    meta: MemoryMeta,
    created_at: z.number(),
    updated_at: z.number(),
  })
  .meta({ id: "Memory" });
export type Memory = z.output<typeof Memory>;

/** The parts of a memory that changes restore. */
export const Remembered = Memory.pick({ type: true, path: true, content: true, meta: true });
export type Remembered = z.output<typeof Remembered>;

export const NewMemory = z
  .object({ content: Content, type: MemoryType.default("context"), path: MemoryPath.nullish() })
  .meta({ id: "NewMemory" });
export type NewMemory = z.output<typeof NewMemory>;

export const MemoryEdit = z
  .object({ content: Content, type: MemoryType.optional(), path: MemoryPath.nullish() })
  .meta({ id: "MemoryEdit" });
export type MemoryEdit = z.output<typeof MemoryEdit>;

const Id = z.string().min(1).max(100);

/** One change of memories; `move` changes the place or the type, `replace` the words. */
export const Operation = z
  .discriminatedUnion("action", [
    NewMemory.extend({ action: z.literal("add") }),
    z.object({ action: z.literal("replace"), id: Id, content: Content }),
    z.object({
      action: z.literal("move"),
      id: Id,
      path: MemoryPath.nullish(),
      type: MemoryType.optional(),
    }),
    z.object({ action: z.literal("remove"), id: Id }),
  ])
  .meta({ id: "MemoryOperation" });
export type Operation = z.output<typeof Operation>;

export const Operations = z.object({ operations: z.array(Operation).min(1).max(limits.operations) });

export const MemorySearch = z
  .object({
    query: z.string().max(1_000).nullish(),
    type: z.enum(["all", "user", "context"]).default("all"),
    path: MemoryPath.nullish(),
    memory_id: Id.nullish(),
    limit: z.int().min(1).max(200).default(20),
  })
  .meta({ id: "MemorySearch" });
export type MemorySearch = z.output<typeof MemorySearch>;

export const VectorQuery = z.object({
  content: z.string().trim().min(1).max(limits.content),
  k: z.int().min(1).max(50).default(1),
});

/** As vector stores answer: one list for the one question, best first; a distance of 1 is the best. */
export const VectorAnswer = z
  .object({
    ids: z.array(z.array(z.string())),
    documents: z.array(z.array(z.string())),
    metadatas: z.array(z.array(z.looseObject({ created_at: z.number() }))),
    distances: z.array(z.array(z.number())),
  })
  .meta({ id: "MemoryVectorAnswer" });

export const PathQuery = z.object({
  path: MemoryPath.default(""),
  include_children: z.coerce.boolean().default(false),
});
export const PathBody = z.object({ path: MemoryPath, include_children: z.boolean().default(false) });

export const PathCount = z.object({ path: z.string(), count: z.int() }).meta({ id: "MemoryPathCount" });

export const MemoryChange = z
  .object({
    id: z.string(),
    memory_id: z.string(),
    action: z.enum(["add", "replace", "move", "remove", "keep"]),
    before: Remembered.nullable(),
    after: Remembered.nullable(),
    source: Origin,
    undone_at: z.number().nullable(),
    created_at: z.number(),
  })
  .meta({ id: "MemoryChange" });
export type MemoryChange = z.output<typeof MemoryChange>;

export const ById = z.object({ id: Id });
export const ByChange = z.object({ change_id: Id });
