import { z } from "zod";
import { AppError } from "#kernel/errors.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { toEnvelope } from "#kernel/sockets/envelope.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import type { Answer } from "./questions.ts";
import type { DecidedTool } from "./stored-decisions.ts";

/** An answer; clients that do not know approvals answer a confirmation with true or false. */
const SocketAnswer = z.union([
  z.boolean().transform((isAllowed): Answer => ({
    decision: isAllowed ? "allow" : "deny",
    always: false,
  })),
  z.object({ decision: z.enum(["allow", "deny"]), always: z.boolean().default(false) }),
]);

/** The call that a client is asked about. */
export interface AskedCall {
  readonly principal: Principal;
  readonly sessionId: string;
  readonly chatId: string | undefined;
  readonly messageId: string | undefined;
  readonly callId: string;
  readonly tool: Pick<DecidedTool, "name" | "title" | "server">;
  /** The tool is not what the person decided about before. */
  readonly hasChanged: boolean;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Where foreign text in the run came from, when that is why the person is asked. */
  readonly foreign: string | undefined;
  /** Epoch seconds. */
  readonly expiresAt: number;
}

const maxShown = 4_000;

/**
 * Asks the client that a run belongs to. Resolves to its answer, to "absent" when there is no such client, and to
 * undefined when the answer is missing or unreadable: other clients may still answer.
 */
export async function askClient(
  hub: Pick<Hub, "ask">,
  { principal, sessionId, chatId, messageId, callId, ...call }: AskedCall,
  { signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number },
): Promise<Answer | "absent" | undefined> {
  const args = JSON.stringify(call.parameters, undefined, 2);
  const { name, title, server } = call.tool;
  const note = call.hasChanged ? "This tool has changed since you decided about it.\n\n" : "";
  const why = call.foreign
    ? `Text that others wrote has entered this reply (${call.foreign}), and this tool acts.\n\n`
    : "";
  const data = {
    title: `Allow ${title ?? name}${server ? ` of ${server}` : ""}?`,
    message: note + why + (args.length > maxShown ? `${args.slice(0, maxShown)}…` : args),
    call_id: callId,
    name,
    ...(call.hasChanged && { changed: true }),
    expires_at: call.expiresAt,
  };
  const payload = toEnvelope({ type: "confirmation", data }, { chatId, messageId });
  const question = { userId: principal.userId, sessionId, event: "events", payload };
  try {
    return SocketAnswer.safeParse(await hub.ask(question, { signal, timeoutMs })).data;
  } catch (error) {
    return error instanceof AppError && error.code === "unavailable" ? "absent" : undefined;
  }
}
