import { AppError } from "#kernel/errors.ts";
import { toEnvelope } from "#kernel/sockets/envelope.ts";
import type { ToolOutput } from "#kernel/tools/output.ts";
import type { ToolProblem } from "#kernel/tools/tool.ts";
import { toRoom } from "#kernel/sockets/rooms.ts";
import type { OpenRun } from "#plugins/completions/service.ts";
import { withConversation } from "../history/conversation.ts";
import { deliver } from "../rounds/deliver.ts";
import { storePictures } from "../reply/data-pictures.ts";
import { toFailure } from "../errors.ts";
import { toEnding } from "./outcome.ts";
import { endRun } from "./ending.ts";
import { Journal } from "../reply/journal.ts";
import { findAgent, findLimit, heardBy } from "./agent.ts";
import type { RunAgent } from "../service.ts";
import { findInterpreter } from "../rounds/interpreter.ts";
import { runRounds } from "../rounds/loop.ts";
import type { RunParts } from "../parts.ts";
import { inlinePictures } from "../history/pictures.ts";
import { toTags } from "#kernel/completion/reasoning-tags.ts";
import type { CallItem } from "../reply/items.ts";
import { Reply } from "../reply/reply.ts";
import { toRunTrust } from "./run-trust.ts";
import type { RunOutcome, RunStart, StopReason, Writing } from "./run-facts.ts";

/** A run of this process. It belongs to the server: whoever started it may be gone (contract D.19). */
export interface LiveRun {
  readonly start: RunStart;
  readonly journal: Journal;
  readonly reply: Reply;
  /** Resolves when nothing of it is left; never rejects. */
  readonly ended: Promise<void>;
  stop(reason: StopReason): void;
}

/** Nobody waits for a run that the server owns: this much time ends one that nobody stops. */
const longestRunMs = 24 * 60 * 60 * 1000;

/** Sets a run going. */
export function startRun(start: RunStart, parts: RunParts): LiveRun {
  const { placed, principal, reply: asked, admitted } = start;
  const controller = new AbortController();
  const afterwards = new AbortController();
  let stopped: StopReason | undefined;
  const stop = (reason: StopReason) => {
    stopped ??= reason;
    const why = new AppError("unavailable", "The run was stopped.");
    controller.abort(why);
    if (reason !== "stopped") {
      afterwards.abort(why);
    }
  };
  const place = { userId: principal.userId, chatId: placed.chatId, messageId: asked.messageId };
  const journal = new Journal(parts.hub, { ...place, seq: start.seq });
  const reply = new Reply({
    runId: start.id,
    chatId: placed.chatId,
    messageId: asked.messageId,
    journal,
    tags: toTags(admitted.model.params["reasoning_tags"]),
    before: start.before,
    writeNow: parts.checkpoints.writeNow,
    lost: () => stop("lost"),
  });
  const emitToUser = (type: string, data: unknown) =>
    parts.hub.emit(
      toRoom("user", principal.userId),
      "events",
      toEnvelope({ type, data }, { chatId: placed.chatId }),
    );
  const live = async () => {
    const limit = setTimeout(() => stop("interrupted"), longestRunMs);
    const folderId = placed.chat?.folder_id ?? null;
    emitToUser("chat:active", { active: true, folder_id: folderId });
    if (placed.chat) {
      parts.checkpoints.add(reply);
    }
    const writing = {
      parts,
      journal,
      reply,
      signal: controller.signal,
      followUpSignal: afterwards.signal,
    };
    const outcome = await write(start, writing);
    if (stopped !== "interrupted") {
      withdrawQuestions(reply);
    }
    const ending = toEnding(reply, { ...outcome, stopped });
    if (ending !== undefined) {
      reply.note({ ending });
    }
    if (parts.settings().convertsPictures && placed.chat && stopped !== "lost") {
      await storePictures(reply, principal, parts);
    }
    await endRun(start, { ...outcome, stopped }, writing);
    clearTimeout(limit);
    emitToUser("chat:active", { active: false, folder_id: folderId });
  };
  const ended = live().catch((error: unknown) => {
    parts.log.error({ err: error, run: start.id }, "a run could not be ended properly");
  });
  return { start, journal, reply, ended, stop };
}

/** Nobody waits any more for what calls asked. Where the server stops, the question stays: its answer goes on with the reply. */
function withdrawQuestions({ output }: Reply): void {
  for (const item of output.items) {
    if (item.type === "function_call" && "question" in item) {
      item.status = "completed";
      delete item.question;
      output.changed(item as CallItem);
    }
  }
}

/** Tells what the request asked for and the reply goes without; `served` is a field that something else serves. */
function showMissing({ ignored, problems }: OpenRun, served: string, emit: Reply["emit"]): void {
  ignored.filter((field) => field !== served).forEach((field) => emit("status", toIgnoredStatus(field)));
  problems.forEach((problem) => emit("status", toProblemStatus(problem)));
}

/** From the request to the last round. Never throws: what goes wrong belongs to the message. */
async function write(
  start: RunStart,
  { parts, reply, signal }: Writing,
): Promise<Omit<RunOutcome, "stopped">> {
  const { principal, asked, admitted, placed, reply: wanted } = start;
  const { model } = admitted;
  const { emit } = reply;
  const isSaved = placed.chat !== undefined;
  let open: OpenRun | undefined;
  let agent: RunAgent | undefined;
  let failed: Pick<RunOutcome, "error" | "retryAt"> = { error: undefined };
  const settings = parts.settings();
  try {
    if (model.selectedModelId !== undefined) {
      reply.note({ selectedModelId: model.selectedModelId });
      emit("chat:completion", { selected_model_id: model.selectedModelId });
    }
    const own = {
      ...asked.request,
      model: wanted.modelId,
      id: wanted.messageId,
      chat_id: placed.chatId,
      chat_variables: { ...placed.chat?.variables, ...asked.variables },
    };
    const request = await withConversation(own, { parts, principal, model, asked, placed, signal, emit });
    agent = await findAgent(start, parts, signal);
    open = await admitted.open(request, {
      agent,
      principal,
      signal,
      userAgent: start.userAgent,
      numbers: start.numbers,
      folderId: placed.chat?.folder_id ?? asked.folderId,
      isFolderNamed: !placed.chat?.folder_id && asked.folderId !== undefined,
      userMessageId: placed.userMessageId,
      userMessageParentId: placed.userMessageParentId,
      onStatus: (status) => emit("status", status),
    });
    reply.addSources(open.sources ?? []);
    const context = {
      principal,
      chatId: placed.chatId,
      messageId: wanted.messageId,
      sessionId: asked.sessionId,
      signal,
      trust: toRunTrust(open, reply.output.items),
    };
    const interpreter = agent
      ? undefined
      : await findInterpreter(parts.interpreters, open, { ...context, asked: request, isSaved });
    showMissing(open, `features.${interpreter?.feature}`, emit);
    const pictures = { files: parts.files, byExtension: settings.typesByExtension };
    const show = toDelivery(start, { parts, reply });
    await Promise.all(open.shown.map(show));
    const error = await runRounds({
      run: agent ? heardBy(agent, open) : open,
      output: reply.output,
      usage: reply.usage,
      context,
      interpreter,
      log: parts.log,
      maxIterations: agent?.maxIterations ?? findLimit(start, parts) ?? settings.maxIterations,
      stopsRepeats: settings.stopsRepeats,
      extra: reply.extra,
      deliver: show,
      withPictures: (messages) => inlinePictures(messages, principal, pictures),
      grown: settings.savesEveryChunk ? parts.checkpoints.writeNow : () => {},
      spent: (usage) => emit("chat:completion", { usage }),
    });
    failed = { error };
  } catch (failure) {
    failed = signal.aborted ? failed : toFailure(failure, parts.log);
  }
  reply.output.endRound();
  const outcome = { open, ...failed };
  await close(outcome, { agent, parts, isStopped: signal.aborted });
  return outcome;
}

/** A failure to close is the server's: the reply stands. */
async function close(
  { open, error }: Omit<RunOutcome, "stopped">,
  { agent, parts, isStopped }: { agent: RunAgent | undefined; parts: RunParts; isStopped: boolean },
): Promise<void> {
  const warn = (failure: unknown) => parts.log.warn({ err: failure }, "a run could not be closed properly");
  await open?.close().catch(warn);
  await agent?.ended({ error, isStopped }).catch(warn);
}

/** Says why a feature or filter that was asked for had no effect. Contract D.37. */
function toIgnoredStatus(field: string): object {
  const [, kind, feature = field] = /^(features|filter_ids)\.(.*)$/s.exec(field) ?? [];
  if (kind === "filter_ids") {
    const description = `The filter "${feature}" is not available here, so the reply was written without it.`;
    return { action: "filter_ignored", description, filter: feature, done: true, hidden: false };
  }
  const name = feature.replaceAll("_", " ");
  const description = `The feature "${name}" is not available to you here, so the reply was written without it.`;
  return { action: "feature_ignored", description, feature, done: true, hidden: false };
}

/** Says why a tool that was asked for is not there. */
function toProblemStatus({ toolId, text }: ToolProblem): object {
  return { action: "tool_unavailable", description: text, tool: toolId, done: true, hidden: false };
}

/** Shows what tools give besides text; of a stored chat the files are linked with it. */
function toDelivery({ principal, placed }: RunStart, { parts, reply }: Pick<Writing, "parts" | "reply">) {
  return (output: ToolOutput) =>
    deliver(output, {
      ...parts,
      principal,
      reply,
      stores: placed.chat !== undefined,
      stored: async (file) => void (await parts.replies.linkFiles(principal, reply, [file])),
    });
}
