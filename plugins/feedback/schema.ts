import { z } from "zod";

const ModelId = z.string().min(1).max(256);
const Tags = z.array(z.string().trim().min(1).max(100)).max(50);

/** What was thought of a reply. `sibling_model_ids` are the models whose replies it was compared with. */
export const RatingData = z
  .object({
    rating: z.union([z.literal(1), z.literal(-1)]),
    model_id: ModelId,
    sibling_model_ids: z.array(ModelId).max(50).nullish(),
    reason: z.string().max(2_000).nullish(),
    comment: z.string().max(20_000).nullish(),
    tags: Tags.nullish(),
    details: z.object({ rating: z.number().min(0).max(10).nullish() }).nullish(),
  })
  .meta({ id: "RatingData" });
export type RatingData = z.output<typeof RatingData>;

/** Which reply was rated. */
export const FeedbackMeta = z
  .object({
    arena: z.boolean().nullish(),
    chat_id: z.string().min(1).max(200),
    message_id: z.string().min(1).max(200),
    message_index: z.int().min(0).max(1_000_000).nullish(),
    tags: Tags.nullish(),
  })
  .meta({ id: "FeedbackMeta" });
export type FeedbackMeta = z.output<typeof FeedbackMeta>;

/** The chat around the reply. */
export const Snapshot = z.object({ chat: z.looseObject({}) }).meta({ id: "FeedbackSnapshot" });
export type Snapshot = z.output<typeof Snapshot>;

export const NewFeedback = z
  .object({
    type: z.literal("rating"),
    data: RatingData,
    meta: FeedbackMeta,
    snapshot: Snapshot.nullish(),
  })
  .meta({ id: "NewFeedback" });
export type NewFeedback = z.output<typeof NewFeedback>;

/** Parts that are sent replace those that are there. */
export const FeedbackChange = z
  .object({
    type: z.literal("rating").optional(),
    data: RatingData.optional(),
    meta: FeedbackMeta.optional(),
    snapshot: Snapshot.nullish(),
  })
  .meta({ id: "FeedbackChange" });
export type FeedbackChange = z.output<typeof FeedbackChange>;

/** The record without the chat around the reply. */
export const FeedbackFacts = z
  .object({
    id: z.string(),
    user_id: z.string(),
    version: z.number(),
    type: z.string(),
    data: RatingData,
    meta: FeedbackMeta,
    created_at: z.number(),
    updated_at: z.number(),
  })
  .meta({ id: "FeedbackFacts" });
export type FeedbackFacts = z.output<typeof FeedbackFacts>;

export const Feedback = FeedbackFacts.extend({ snapshot: Snapshot.nullable() }).meta({ id: "Feedback" });
export type Feedback = z.output<typeof Feedback>;

const Person = z.object({ id: z.string(), name: z.string(), email: z.string(), role: z.string() });

export const FeedbackPage = z
  .object({ items: z.array(FeedbackFacts.extend({ user: Person.nullable() })), total: z.number() })
  .meta({ id: "FeedbackPage" });

export const ListQuery = z.object({
  page: z.coerce.number().int().min(1).max(1_000_000).default(1),
  order_by: z.enum(["created_at", "updated_at", "model_id", "rating", "username"]).default("updated_at"),
  direction: z.enum(["asc", "desc"]).default("desc"),
  model_id: z.string().max(256).optional(),
});
export type ListQuery = z.output<typeof ListQuery>;

export const FeedbackId = z.object({ id: z.string().max(200) });

export const Leaderboard = z
  .object({
    entries: z.array(
      z.object({
        model_id: z.string(),
        rating: z.int(),
        won: z.int(),
        lost: z.int(),
        count: z.int(),
        top_tags: z.array(z.object({ tag: z.string(), count: z.int() })),
      }),
    ),
  })
  .meta({ id: "Leaderboard" });
export type LeaderboardEntry = z.output<typeof Leaderboard>["entries"][number];

export const ModelHistory = z
  .object({
    model_id: z.string(),
    history: z.array(z.object({ date: z.string(), won: z.int(), lost: z.int() })),
  })
  .meta({ id: "ModelHistory" });
