import { z } from "zod";
import { AppError } from "#kernel/errors.ts";

export const limits = {
  questions: 3,
  options: { least: 2, most: 3 },
  answerChars: 4_000,
  timeoutMs: { least: 60_000, most: 240_000, standard: 120_000 },
};

const Text = (max: number) => z.string().trim().min(1).max(max);

const Question = z.object({
  id: Text(100),
  header: z.string().trim().max(100).default(""),
  question: Text(1_000),
  options: z
    .array(z.object({ label: Text(200), description: z.string().trim().max(500).default("") }))
    .min(limits.options.least)
    .max(limits.options.most),
  allow_other: z.boolean().default(true),
});

/** One question to the person (contract §3.6). */
export type Question = z.output<typeof Question>;

const Questions = z.array(Question).min(1).max(limits.questions);

/** What a call shows while it waits for the person. */
export interface ShownQuestions {
  readonly questions: readonly Question[];
  readonly timeout_ms: number;
  /** Epoch milliseconds. */
  readonly expires_at: number;
}

const Shown = z.object({ questions: Questions, timeout_ms: z.number(), expires_at: z.number() });

/** The questions that a stored call shows; undefined for what is none. */
export function readShown(stored: unknown): ShownQuestions | undefined {
  return Shown.safeParse(stored).data;
}

/** The questions that a model sends. Throws `invalid` naming the field. */
export function readQuestions(sent: unknown): Question[] {
  const { data, error } = Questions.safeParse(sent);
  if (data === undefined) {
    const [issue] = error.issues;
    const path = ["questions", ...(issue?.path ?? [])].join(".");
    throw new AppError("invalid", `${path}: ${issue?.message ?? "is wrong"}`);
  }
  if (new Set(data.map(({ id }) => id)).size < data.length) {
    throw new AppError("invalid", "questions: two have the same id.");
  }
  const isDoubled = data.some(
    ({ options }) => new Set(options.map(({ label }) => label)).size < options.length,
  );
  if (isDoubled) {
    throw new AppError("invalid", "questions: two options of one have the same label.");
  }
  return data;
}

/** A person's answers by the id of each question: the label of an option, or words of their own; or a refusal to answer. */
export const Answer = z.union([
  z.object({ answers: z.record(z.string(), z.string().trim().min(1).max(limits.answerChars)) }),
  z.object({ skipped: z.literal(true) }),
]);

export type Answer = z.output<typeof Answer>;

/** Why an answer does not fit its questions, naming the field; undefined for one that does. */
export function findProblem(questions: readonly Question[], answer: Answer): string | undefined {
  if ("skipped" in answer) {
    return undefined;
  }
  const { answers } = answer;
  const unknown = Object.keys(answers).find((id) => !questions.some((question) => question.id === id));
  if (unknown !== undefined) {
    return `answers.${unknown}: there is no such question.`;
  }
  const open = questions.find(({ id }) => !Object.hasOwn(answers, id));
  if (open !== undefined) {
    return `answers.${open.id}: is missing.`;
  }
  const wrong = questions.find(
    ({ id, options, allow_other: isFree }) => !isFree && !options.some(({ label }) => label === answers[id]),
  );
  return wrong && `answers.${wrong.id}: is none of the options.`;
}

/** What the model reads of an answer. */
export function toResult(questions: readonly Question[], answer: Answer): object {
  return "skipped" in answer
    ? { status: "skipped", message: "The user chose not to answer. Go on with your best judgement." }
    : {
        status: "answered",
        answers: questions.map(({ id, question }) => ({ id, question, answer: answer.answers[id] })),
      };
}

/** What the model reads when nobody answered. */
export const unanswered = {
  status: "timeout",
  message: "The user did not answer in time. Go on with your best judgement, or ask in your reply.",
};
