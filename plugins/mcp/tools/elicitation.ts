import type { ElicitRequest, ElicitResult } from "@modelcontextprotocol/sdk/types.js";
import { toEnvelope } from "#kernel/sockets/envelope.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import type { ToolContext } from "#kernel/tools/tool.ts";

const timeoutMs = 300_000;
const mostProperties = 50;

/**
 * Asks the person in the chat what a server wants to know, by a form made from its schema. Without a client of the run
 * that can be asked, or without an answer, the server is told that nobody decided.
 */
export async function askInChat(
  { params, server, signal }: { params: ElicitRequest["params"]; server: string; signal: AbortSignal },
  context: ToolContext,
  hub: Pick<Hub, "ask"> | undefined,
): Promise<ElicitResult> {
  const { principal, chatId, messageId, sessionId, call } = context;
  const schema = "requestedSchema" in params ? params.requestedSchema : undefined;
  if (hub === undefined || sessionId === undefined || schema === undefined || isTooLarge(schema)) {
    return { action: "decline" };
  }
  const data = { title: server, message: params.message, schema };
  const payload = toEnvelope({ type: "input", data }, { chatId, messageId });
  call?.showWaiting({ kind: "form", server, message: params.message, schema });
  try {
    const question = { userId: principal.userId, sessionId, event: "events", payload };
    const over = AbortSignal.any([signal, context.signal]);
    return toResult(await hub.ask(question, { signal: over, timeoutMs }));
  } catch {
    context.signal.throwIfAborted();
    return { action: "cancel" };
  } finally {
    call?.showWaiting(undefined);
  }
}

function isTooLarge(schema: { readonly properties: object }): boolean {
  return Object.keys(schema.properties).length > mostProperties;
}

/** An object is a filled form; a client that knows no forms answers with a text or false. */
function toResult(answer: unknown): ElicitResult {
  if (typeof answer !== "object" || answer === null || Array.isArray(answer)) {
    return { action: "decline" };
  }
  const fits = (value: unknown) =>
    ["string", "number", "boolean"].includes(typeof value) ||
    (Array.isArray(value) && value.every((each) => typeof each === "string"));
  const content = Object.fromEntries(Object.entries(answer).filter(([, value]) => fits(value)));
  return { action: "accept", content } as ElicitResult;
}
