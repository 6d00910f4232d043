import { show, type SubagentParts } from "./parts.ts";
import { cutOutput } from "./prompt.ts";
import type { Rows } from "./rows.ts";
import type { ChatContinuation } from "./service.ts";
import { readOutcome } from "./sub-chat.ts";
import type { SubagentRow } from "./tables.ts";

const most = 10;
const lookMs = 1_000;
const beatMs = 3_000;
/** Seconds until a result is told again that could not be told. */
const whileBusy = 1;
const afterFailure = 30;

/** Tells chats what their sub-agents in the background came to, and gives up those whose process is gone. */
export function createReports(
  parts: SubagentParts,
  { rows, continuation, ids }: { rows: Rows; continuation: ChatContinuation; ids: () => string[] },
) {
  const timers: NodeJS.Timeout[] = [];
  let looking: Promise<void> | undefined;
  let isStopped = false;

  async function look(): Promise<void> {
    if (isStopped || !parts.settings().enabled) {
      return;
    }
    const taken = await rows.takeReports(most);
    await Promise.all(taken.map((row) => report(row)));
  }

  async function report(row: SubagentRow): Promise<void> {
    let againIn: number | undefined = afterFailure;
    try {
      const outcome = await readOutcome(row.id, false, parts);
      const told = await continuation.tell({
        id: row.id,
        userId: row.user_id,
        chatId: row.chat_id,
        content: toContent(row, cutOutput(outcome.output, parts.settings().maxOutput)),
        meta: { kind: "subagent", subagent_id: row.id, task: row.task, state: row.state },
        request: row.request,
        isMine: () => rows.keepReport(row),
      });
      againIn = told === "busy" ? whileBusy : undefined;
    } catch (error) {
      parts.log.warn({ err: error, subagent: row.id }, "the result of a sub-agent could not be told");
    }
    await rows.releaseReport(row, againIn);
  }

  async function tend(): Promise<void> {
    const working = ids();
    if (working.length > 0) {
      await rows.beat(working);
    }
    const left = await rows.giveUp();
    left.forEach((row) => show(row, parts));
  }

  const guarded = (work: () => Promise<void>, what: string) => () => {
    looking = (looking ?? Promise.resolve())
      .then(work)
      .catch((error: unknown) => parts.log.warn({ err: error }, what));
  };

  return {
    start() {
      timers.push(
        setInterval(guarded(look, "results of sub-agents could not be looked for"), lookMs),
        setInterval(guarded(tend, "sub-agents could not be tended"), beatMs),
      );
    },
    async stop() {
      isStopped = true;
      timers.forEach((timer) => clearInterval(timer));
      await looking;
    },
  };
}

const ends: Readonly<Record<string, string>> = {
  completed: "has finished",
  failed: "has failed",
  stopped: "was stopped by the user; what it had written so far follows",
  interrupted: "was interrupted, because the server stopped; what it had written so far follows",
};

/** The result as the model reads it; the person sees a card in its place. */
function toContent(row: SubagentRow, output: string): string {
  const lines = [
    `[Message of the system, not of the user] The sub-agent ${row.id} ${ends[row.state] ?? "has ended"}.`,
    `Task: ${row.task}`,
    ...(row.error === null ? [] : [`Problem: ${row.error}`]),
    `Result:\n${output === "" ? "(nothing was written)" : output}`,
  ];
  return lines.join("\n\n");
}
