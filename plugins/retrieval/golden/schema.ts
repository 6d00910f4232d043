import { z } from "zod";

/** Settings of one search; the instance's hold where one is left out. */
export const LabSettings = z.object({
  top_k: z.int().min(1).max(100).nullish(),
  hybrid: z.boolean().nullish(),
  /** Share of keyword search in the weighted sum. */
  keyword_weight: z.number().min(0).max(1).nullish(),
  threshold: z.number().min(0).max(1).nullish(),
  rerank: z.boolean().nullish(),
});
export type LabSettings = z.output<typeof LabSettings>;

const Names = z.array(z.string().min(1).max(300)).max(100);
const Scope = { files: Names.default([]), collections: Names.default([]) };

export const LabQuestion = z.object({
  question: z.string().trim().min(1).max(4_000),
  ...Scope,
  settings: LabSettings.default({}),
});
export type LabQuestion = z.output<typeof LabQuestion>;

const Traced = z.object({
  id: z.string(),
  name: z.string(),
  content: z.string(),
  score: z.number(),
  page: z.number().optional(),
});

export const LabPassage = Traced.extend({
  source_id: z.string(),
  file_id: z.string().nullable(),
  /** Where it stands in the source's text, in UTF-16 units. */
  start: z.number(),
  end: z.number(),
  headings: z.array(z.string()),
  /** What each method gave it. */
  scores: z.object({
    keyword: z.number().optional(),
    vector: z.number().optional(),
    rerank: z.number().optional(),
  }),
});
export type LabPassage = z.output<typeof LabPassage>;

export const LabAnswer = z
  .object({
    passages: z.array(LabPassage),
    trace: z.object({
      keyword: z.array(Traced),
      vector: z.array(Traced),
      fused: z.array(Traced),
      reranked: z.array(Traced).nullable(),
      cut: z.array(Traced.extend({ reason: z.string() })),
      /** Milliseconds of each step. */
      times: z.record(z.string(), z.number()),
      notes: z.array(z.string()),
    }),
    /** What a model is told, as it is sent. */
    prompt: z.array(z.object({ role: z.string(), content: z.string() })),
  })
  .meta({ id: "RetrievalLabAnswer" });
export type LabAnswer = z.output<typeof LabAnswer>;

/** A passage that answers a question: a place in a text, so that it stays right when the text is cut anew. */
export const Expected = z
  .object({
    source_id: z.string().min(1).max(300),
    name: z.string().max(500),
    start: z.int().min(0),
    end: z.int().min(1),
    /** Its beginning, for people. */
    excerpt: z.string().max(400),
  })
  .refine(({ start, end }) => end > start, "must end behind its start");
export type Expected = z.output<typeof Expected>;

export const NewQuestion = z.object({
  question: z.string().trim().min(1).max(4_000),
  ...Scope,
  expected: z.array(Expected).min(1).max(20),
});
export type NewQuestion = z.output<typeof NewQuestion>;

export const GoldenQuestion = NewQuestion.extend({
  id: z.string(),
  created_at: z.number(),
  updated_at: z.number(),
}).meta({ id: "GoldenQuestion" });
export type GoldenQuestion = z.output<typeof GoldenQuestion>;

export const QuestionResult = z.object({
  question_id: z.string(),
  question: z.string(),
  /** Place of the first expected passage, from 1; null where none was found. */
  rank: z.number().nullable(),
  /** Milliseconds of the search. */
  ms: z.number(),
  /** Why there was no search. */
  error: z.string().optional(),
});
export type QuestionResult = z.output<typeof QuestionResult>;

export const NewRun = z.object({
  settings: LabSettings.default({}),
  k: z.int().min(1).max(100).default(5),
});
export type NewRun = z.output<typeof NewRun>;

export const GoldenRun = z
  .object({
    id: z.string(),
    created_at: z.number(),
    settings: LabSettings,
    k: z.number(),
    results: z.array(QuestionResult),
    hits: z.number(),
    /** Share of questions with an expected passage among the first k; null without questions. */
    hit_rate: z.number().nullable(),
    /** Questions whose place is another one than in the run before. */
    changes: z.array(
      z.object({
        question_id: z.string(),
        question: z.string(),
        before: z.number().nullable(),
        now: z.number().nullable(),
      }),
    ),
  })
  .meta({ id: "GoldenRun" });
export type GoldenRun = z.output<typeof GoldenRun>;

export const QuestionId = z.object({ id: z.string().max(100) });
