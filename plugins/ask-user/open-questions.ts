import { type Answer, findProblem, type Question } from "./questions.ts";

/** The call that asks. */
export interface CallPlace {
  readonly userId: string;
  readonly chatId: string;
  readonly messageId: string;
  readonly callId: string;
}

interface Open {
  readonly questions: readonly Question[];
  resolve(answer: Answer): void;
}

/** What became of an answer: taken, or why not. */
export type Taken = { readonly taken: true } | { readonly problem: string };

export type OpenQuestions = ReturnType<typeof createOpenQuestions>;

/** The questions of runs of this process that wait for the person. */
export function createOpenQuestions() {
  const open = new Map<string, Open>();
  const keyOf = ({ userId, chatId, messageId, callId }: CallPlace) =>
    JSON.stringify([userId, chatId, messageId, callId]);
  return {
    /** Resolves to the first answer that fits. */
    wait(place: CallPlace, questions: readonly Question[]): Promise<Answer> {
      return new Promise((resolve) => open.set(keyOf(place), { questions, resolve }));
    },

    remove(place: CallPlace): void {
      open.delete(keyOf(place));
    },

    /** Gives an answer to the call; undefined when it does not wait here. */
    answer(place: CallPlace, answer: Answer): Taken | undefined {
      const waiting = open.get(keyOf(place));
      if (waiting === undefined) {
        return undefined;
      }
      const problem = findProblem(waiting.questions, answer);
      if (problem !== undefined) {
        return { problem };
      }
      open.delete(keyOf(place));
      waiting.resolve(answer);
      return { taken: true };
    },
  };
}
