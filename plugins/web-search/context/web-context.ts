import { hasPermission } from "#kernel/access/permissions.ts";
import { AppError } from "#kernel/errors.ts";
import type { Logger } from "#kernel/log.ts";
import type { Slot } from "#kernel/service.ts";
import { type ToolApprover, withApproval } from "#kernel/tools/approval.ts";
import type { QueryWriter } from "#plugins/chat-tasks/service.ts";
import type { ContextRun, ContextSource, GatheredContext, Source } from "#plugins/completions/service.ts";
import type { Retrieval } from "#plugins/retrieval/service.ts";
import { findHits, type FindingParts, type FoundPage, openPages } from "../search/find-pages.ts";
import type { Searches } from "../search/search.ts";
import { searchTool } from "../tools/search-tool.ts";
import { choosePassages, wholePages } from "./passages.ts";

export interface WebContextParts extends FindingParts {
  readonly searches: Searches;
  readonly approvers: Slot<ToolApprover>;
  readonly writer: QueryWriter | undefined;
  readonly retrieval: Retrieval | undefined;
  readonly log: Logger;
}

const feature = "web_search";
/** More queries than this say the same again. */
const mostQueries = 4;
const longestQuery = 400;

/**
 * Searches the web for runs without tool calls of their own whose request switches `features.web_search` on (contract
 * §3.2, step 7). What fails is told in the reply; the model answers all the same.
 */
export function createWebContext(parts: WebContextParts): ContextSource {
  return {
    id: "web-search",
    isNeeded({ request, model, mode }) {
      const capabilities = model.meta["capabilities"] as Readonly<Record<string, unknown>> | undefined;
      const isOn = request.features?.[feature] === true && capabilities?.[feature] !== false;
      return isOn && mode === "legacy" && parts.searches.isReady();
    },
    async gather(run) {
      // The feature then counts as ignored, as for everybody who may not use it (contract D.37).
      return hasPermission(run.principal, `features.${feature}`) ? await search(run, parts) : { sources: [] };
    },
  };
}

async function search(run: ContextRun, parts: WebContextParts): Promise<GatheredContext> {
  const served = { features: [feature] };
  const show = (status: Readonly<Record<string, unknown>>) =>
    run.onStatus({ action: "web_search", hidden: false, ...status });
  show({ description: "Searching the web", done: false });
  const queries = await toQueries(run, parts);
  if (queries.length === 0) {
    show({ description: "No search was needed", done: true });
    return { sources: [], ...served };
  }
  try {
    await requireConsent(run, queries, parts);
  } catch (error) {
    run.signal.throwIfAborted();
    if (!(error instanceof AppError)) {
      throw error;
    }
    show({ description: "The web was not searched", done: true });
    return { sources: [], ...served, problems: ["The web was not searched: nobody allowed it."] };
  }
  run.onStatus({
    action: "web_search_queries_generated",
    description: "Searching the web",
    queries,
    done: false,
    hidden: false,
  });
  const { hits, problems } = await findHits(queries, parts, run.signal);
  if (hits.length === 0) {
    show({ description: "Found nothing on the web", queries, done: true });
    return { sources: [], ...served, problems };
  }
  const pages = await openPages(hits, parts, run.signal);
  show({
    description: "Searched {{count}} sites",
    queries,
    urls: hits.map(({ link }) => link),
    items: pages.map(({ hit, problem }) => ({ ...hit, ...(problem !== undefined && { error: problem }) })),
    done: true,
  });
  return { sources: await toSources(pages, { run, queries, parts }), ...served, problems };
}

/** The queries of a task model; the person's own words where none are written (contract §3.7). */
async function toQueries(run: ContextRun, { writer, log }: WebContextParts): Promise<readonly string[]> {
  const { principal, model, request, chatId, signal } = run;
  try {
    const written = await writer?.write(feature, {
      principal,
      model,
      messages: request.messages,
      variables: request.variables ?? undefined,
      filterIds: request.filter_ids ?? undefined,
      chatId,
      messageId: request.id ?? undefined,
      signal,
    });
    if (written !== undefined) {
      return written.slice(0, mostQueries);
    }
  } catch (error) {
    signal.throwIfAborted();
    log.warn({ err: error }, "no queries could be written; the web is searched for the question as it is");
  }
  const own = toQuestion(run);
  return own === "" ? [] : [own];
}

/** The last words of the person, in one line. */
function toQuestion({ request }: ContextRun): string {
  const content = request.messages.findLast(({ role }) => role === "user")?.content ?? "";
  const parts = typeof content === "string" ? [content] : content.map((part) => part["text"]);
  const said = parts.filter((part) => typeof part === "string").join(" ");
  return said.replaceAll(/\s+/g, " ").trim().slice(0, longestQuery);
}

/**
 * Asks like a call of `search_web` would, once for all queries: ENABLE_WEB_SEARCH_CONFIRMATION and the policies of
 * tools hold here too (contract D.22). Throws `forbidden`.
 */
async function requireConsent(
  { principal, chatId, request, signal }: ContextRun,
  queries: readonly string[],
  parts: WebContextParts,
): Promise<void> {
  const tool = searchTool(parts);
  const asking = { ...tool, ...(parts.settings.confirmation && { approval: "ask" as const }) };
  const [approver] = parts.approvers.list();
  await withApproval({ ...asking, run: async () => undefined }, approver).run(
    { query: queries.join("; ") },
    {
      principal,
      chatId,
      messageId: request.id ?? undefined,
      sessionId: request.session_id ?? undefined,
      signal,
    },
  );
}

interface Choice {
  readonly run: ContextRun;
  readonly queries: readonly string[];
  readonly parts: WebContextParts;
}

async function toSources(
  pages: readonly FoundPage[],
  { run, queries, parts }: Choice,
): Promise<readonly Source[]> {
  const { retrieval, settings, log } = parts;
  if (
    retrieval === undefined ||
    settings.bypassRetrieval ||
    settings.bypassLoader ||
    retrieval.wantsWholeTexts()
  ) {
    return wholePages(pages);
  }
  const { principal, signal } = run;
  try {
    const found = await choosePassages(pages, retrieval, { principal, queries, signal });
    // Pages that say it in other words than the question are better than none.
    return found.length > 0 ? found : wholePages(pages);
  } catch (error) {
    signal.throwIfAborted();
    log.warn({ err: error }, "passages of pages could not be found; the model is given the pages");
    return wholePages(pages);
  }
}
