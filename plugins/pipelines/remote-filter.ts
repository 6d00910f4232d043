import { CompletionRequest } from "#kernel/completion/request.ts";
import { type Breaker, createBreaker } from "#kernel/egress/breaker.ts";
import { AppError, ProviderError } from "#kernel/errors.ts";
import type { Logger } from "#kernel/log.ts";
import type { Conversation, FilterContext } from "#kernel/pipeline/filter.ts";
import type { CommonConnections } from "#plugins/provider-common/service.ts";
import { findDetail } from "./detail.ts";
import type { RemotePipeline } from "./hosts.ts";

export interface RemoteFilterOptions {
  readonly connections: Pick<CommonConnections, "ask">;
  readonly log: Logger;
  /** Milliseconds of one call. */
  timeLimit(): number;
  /** True when a request may not go without a filter that does not answer. */
  isRequired(): boolean;
}

/** `isOwn`: the filter of the pipeline model that answers, which its server looks up by the model's own id. */
export interface RemoteContext extends FilterContext {
  readonly isOwn?: boolean;
}

/** Calls filters of pipelines servers (contract §4.4). */
export interface RemoteFilters {
  /**
   * The request as the filter gives it back. Throws `invalid` with the filter's own text when it refuses. A filter
   * that does not answer, or not with a request, is left out, or is `unavailable` when filters are required.
   */
  inlet(
    filter: RemotePipeline,
    request: CompletionRequest,
    context: RemoteContext,
  ): Promise<CompletionRequest>;
  /** The conversation as the filter gives it back; what fails is logged and changes nothing. */
  outlet(filter: RemotePipeline, conversation: Conversation, context: RemoteContext): Promise<Conversation>;
}

/** Builds the calls; what a failure means differs between requests and conversations. */
export function createRemoteFilters(options: RemoteFilterOptions): RemoteFilters {
  const { log } = options;
  const ask = createCaller(options);
  return {
    async inlet(filter, request, context) {
      try {
        return toRequest(await ask("inlet", filter, { body: request, context }));
      } catch (error) {
        context.signal.throwIfAborted();
        const detail = error instanceof ProviderError ? findDetail(error.body) : undefined;
        if (detail !== undefined) {
          throw new AppError("invalid", detail, { cause: error });
        }
        if (options.isRequired()) {
          const text = `The filter ${filter.name} does not answer. Try again later.`;
          throw new AppError("unavailable", text, { cause: error });
        }
        log.warn({ err: error, filter: filter.id }, "a remote filter failed; the request goes without it");
        return request;
      }
    },
    async outlet(filter, conversation, context) {
      try {
        return toConversation(await ask("outlet", filter, { body: conversation, context }));
      } catch (error) {
        log.warn({ err: error, filter: filter.id }, "a remote filter failed; its change is left out");
        return conversation;
      }
    },
  };
}

type Ask = (
  hook: "inlet" | "outlet",
  filter: RemotePipeline,
  run: { body: { model: string }; context: RemoteContext },
) => Promise<unknown>;

/** A server that does not answer is spared for some seconds, so that it delays few requests. */
function createCaller({ connections, timeLimit }: RemoteFilterOptions): Ask {
  const breakers = new Map<string, Breaker>();
  return async (hook, { host, id }, { body, context }) => {
    const breaker = breakerOf(breakers, host.url);
    if (!breaker.allows()) {
      throw new AppError("unavailable", "The pipelines server did not answer lately.");
    }
    const { principal, isOwn, chatId, messageId, signal } = context;
    const { userId, email, name, role } = principal;
    const sent = isOwn ? { ...body, model: id } : body;
    try {
      const answer = await connections.ask({
        index: host.index,
        method: "POST",
        path: `/${encodeURIComponent(id)}/filter/${hook}`,
        body: JSON.stringify({ user: { id: userId, email, name, role }, body: sent }),
        timeLimit: timeLimit(),
        context: { principal, chatId, messageId, signal },
      });
      breaker.succeeded();
      return isOwn ? { ...(answer as object), model: body.model } : answer;
    } catch (error) {
      if (error instanceof ProviderError) {
        breaker.succeeded();
      } else if (!signal.aborted) {
        breaker.failed(error instanceof AppError && error.code === "timeout");
      }
      throw error;
    }
  };
}

function breakerOf(breakers: Map<string, Breaker>, url: string): Breaker {
  const known = breakers.get(url);
  const now = () => performance.now();
  const breaker = known ?? createBreaker({ threshold: 2, firstPause: 2000, longestPause: 15_000, now });
  breakers.set(url, breaker);
  return breaker;
}

function toRequest(answer: unknown): CompletionRequest {
  const parsed = CompletionRequest.safeParse(answer);
  if (!parsed.success) {
    throw new AppError("upstream", "The filter's answer is no request.", { cause: parsed.error });
  }
  return parsed.data;
}

function toConversation(answer: unknown): Conversation {
  if (!Array.isArray((answer as Conversation | null)?.messages)) {
    throw new AppError("upstream", "The filter's answer is no conversation.");
  }
  return answer as Conversation;
}
