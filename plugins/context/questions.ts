import type { Logger } from "#kernel/log.ts";
import type { QueryWriter } from "#plugins/chat-tasks/service.ts";
import type { ContextRun } from "#plugins/completions/service.ts";

/** Longest question that is searched for as it was asked. */
const maxQuery = 2_000;

/** Queries for a run: a task model's, else what the person asked. Never fails because of the task model. */
export async function toQueries(
  run: ContextRun,
  { writer, log }: { readonly writer: QueryWriter; readonly log: Logger },
): Promise<readonly string[]> {
  const { principal, model, request, chatId, signal } = run;
  const own = toQuestion(run);
  try {
    const written = await writer.write("retrieval", {
      principal,
      model,
      messages: request.messages,
      variables: request.variables ?? undefined,
      filterIds: request.filter_ids ?? undefined,
      chatId,
      messageId: request.id ?? undefined,
      signal,
    });
    if (written !== undefined && written.length > 0) {
      run.onStatus({
        action: "queries_generated",
        description: "Searching for {{count}} questions",
        queries: written,
        done: false,
        hidden: false,
      });
      return written;
    }
  } catch (error) {
    signal.throwIfAborted();
    log.warn({ err: error }, "no queries could be written; the question is searched for as it is");
  }
  return own === "" ? [] : [own];
}

/** The last words of the person. */
export function toQuestion({ request }: Pick<ContextRun, "request">): string {
  const content = request.messages.findLast(({ role }) => role === "user")?.content;
  const said =
    typeof content === "string"
      ? content
      : (content ?? []).map((part) => (typeof part["text"] === "string" ? part["text"] : "")).join("\n");
  return said.trim().slice(0, maxQuery);
}
