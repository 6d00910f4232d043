import type { CompletionRequest, Message } from "#kernel/completion/request.ts";
import { fillTemplate, hasVariables, type TemplateFacts } from "#plugins/models/service.ts";
import type { Principal } from "#kernel/access/principal.ts";
import type { ResolvedModel } from "#plugins/models/service.ts";
import { fillRequest, without, withOwnParams } from "./parameters.ts";

/** Looks up what templates may name beyond what the principal holds. */
export type FindProfile = (
  principal: Principal,
) => Promise<Pick<TemplateFacts, "timeZone" | "user" | "userVariables">>;

export interface Preparing {
  readonly model: ResolvedModel;
  readonly principal: Principal;
  readonly findProfile: FindProfile;
  /** What follows the model's own system prompt, in order. */
  readonly prompts?: readonly (string | undefined)[];
  /** Saved parameters that are not filled in. */
  readonly leftOut?: readonly string[] | undefined;
}

/**
 * The request as the pipeline gets it: parameters filled in, the model's system prompt in front, template variables
 * replaced. Core API, chat completion rules 6 and 7.
 */
export async function prepare(
  request: CompletionRequest,
  { model, principal, findProfile, prompts = [], leftOut }: Preparing,
): Promise<CompletionRequest> {
  const { system: own, stream_response: streams } = model.params;
  const filled = fillRequest(withOwnParams(request), leftOut ? without(model.params, leftOut) : model.params);
  const system = [own, ...prompts].filter((text) => typeof text === "string" && text !== "").join("\n\n");
  const hasSystem = system !== "";
  const isSteered = typeof streams === "boolean" && streams !== filled.stream;
  const messages = hasSystem ? withSystem(filled.messages, system) : filled.messages;
  const prepared =
    hasSystem || isSteered ? { ...filled, messages, ...(isSteered && { stream: streams }) } : filled;
  if (!messages.some(isTemplate)) {
    return prepared;
  }
  const facts: TemplateFacts = {
    now: new Date(),
    ...(await findProfile(principal)),
    variables: request.variables ?? {},
    chatVariables: toBag(request["chat_variables"]),
  };
  const fill = (message: Message) =>
    isTemplate(message) ? { ...message, content: fillTemplate(message.content as string, facts) } : message;
  return { ...prepared, messages: messages.map(fill) };
}

/** The model's prompt comes first; a system message of the caller follows it in the same message. */
function withSystem(messages: readonly Message[], system: string): Message[] {
  const [first, ...rest] = messages;
  if (first?.role !== "system") {
    return [{ role: "system", content: system }, ...messages];
  }
  const content = Array.isArray(first.content)
    ? [{ type: "text", text: system }, ...first.content]
    : `${system}\n\n${first.content ?? ""}`.trimEnd();
  return [{ ...first, content }, ...rest];
}

function isTemplate(message: Message): boolean {
  return message.role === "system" && typeof message.content === "string" && hasVariables(message.content);
}

function toBag(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}
