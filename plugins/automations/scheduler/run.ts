import { hasPermission } from "#kernel/access/permissions.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { seconds } from "#storage/clock.ts";
import type { SystemEvent } from "#kernel/events.ts";
import { announce, type AutomationParts } from "../parts.ts";
import { enterTerminal } from "../places.ts";
import type { AutomationRow, Claim } from "../tables.ts";
import type { Claims } from "./claims.ts";

/** Tries of one run: what a process left behind is begun again, also when the next one dies as well. */
const maxTries = 3;
/** Between two looks whether a reply is still being written. */
const lookMs = 5_000;

/** Does the work of one claim and writes the row of its run; `lost` fires when another process has the claim. */
export async function runClaim(
  claim: Claim,
  lost: AbortSignal,
  { claims, parts }: { claims: Claims; parts: AutomationParts },
): Promise<void> {
  const row = await parts.db
    .selectFrom("automation")
    .selectAll()
    .where("id", "=", claim.automation_id)
    .executeTakeFirst();
  if (row === undefined) {
    return;
  }
  let chatId: string | null = null;
  let error: string | null = null;
  const owner = await findOwner(row, claim, parts);
  announce(parts, "run_started", { by: owner, row });
  try {
    const principal = requireOwner(owner);
    if (claim.token > maxTries) {
      throw new AppError("unavailable", "The server stopped again and again during the run.");
    }
    chatId = await makeChat(principal, { row, claim }, parts);
    error = await reply(principal, { row, claim, chatId, lost }, { claims, parts });
  } catch (failure) {
    error =
      failure instanceof AppError ? failure.message : "The run failed for a reason of the server's own.";
    parts.log.warn({ err: failure, automation: row.id }, "a run of an automation failed");
  }
  if (await claims.end(claim, { chatId, error })) {
    if (owner === undefined || (error !== null && !hasPermission(owner, "features.automations"))) {
      // Who may have no automations any more has none that go on.
      await parts.db.updateTable("automation").set({ is_active: false }).where("id", "=", row.id).execute();
    }
    const data = { run_id: claim.id, chat_id: chatId, ...(error !== null && { error }) };
    announce(parts, error === null ? "run_completed" : "run_failed", { by: owner, row, data });
  }
}

/** The owner with a session of this run alone: it names the run and ends after AUTOMATION_AUTH_TOKEN_EXPIRES_IN. */
async function findOwner(
  row: AutomationRow,
  claim: Claim,
  parts: AutomationParts,
): Promise<Principal | undefined> {
  const owner = await parts.accounts.principalOf(row.user_id);
  const { ms } = parts.settings().tokenLifetime;
  const expiresAt = ms === null ? null : seconds() + Math.ceil(ms / 1_000);
  const session = { id: `automation:${claim.id}`, expiresAt };
  return owner && Object.freeze({ ...owner, session, automationId: row.id });
}

function requireOwner(owner: Principal | undefined): Principal {
  if (owner === undefined) {
    throw new AppError("forbidden", "The owner's account is switched off or gone.");
  }
  if (!hasPermission(owner, "features.automations")) {
    throw new AppError("forbidden", "The owner has lost the permission features.automations.");
  }
  return owner;
}

const questionOf = (claim: Claim) => `${claim.id}-question`;

/** The chat has the claim's id: whoever takes the claim over finds it, and nobody makes a second one. */
async function makeChat(
  principal: Principal,
  { row, claim }: { row: AutomationRow; claim: Claim },
  { chats, folders, models, terminals }: AutomationParts,
): Promise<string> {
  // Before the chat: a model or terminal that is gone leaves none behind.
  await models.resolve(principal, row.data.model_id);
  await enterTerminal(principal, { terminal: row.data.terminal, chatId: claim.id }, { terminals });
  if (claim.token > 1 && (await chats.message(claim.id, questionOf(claim))) !== undefined) {
    return claim.id;
  }
  const isThere = async (id: string) =>
    (await Promise.all(folders.list().map((one) => one.find(principal, id)))).some(
      (folder) => folder?.user_id === principal.userId,
    );
  const folderId = row.folder_id !== null && (await isThere(row.folder_id)) ? row.folder_id : undefined;
  const { id } = await chats.create(principal, {
    id: claim.id,
    title: row.name,
    models: [row.data.model_id],
    messages: [
      {
        id: questionOf(claim),
        role: "user",
        parentId: null,
        content: row.data.prompt,
        timestamp: seconds(),
        models: [row.data.model_id],
      },
    ],
    folderId,
    meta: { automation_id: row.id },
  });
  return id;
}

const toTexts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];

/** Starts the reply with what the model switches on by default, and waits for its end; resolves to what went wrong with it. */
async function reply(
  principal: Principal,
  { row, claim, chatId, lost }: { row: AutomationRow; claim: Claim; chatId: string; lost: AbortSignal },
  { claims, parts }: { claims: Claims; parts: AutomationParts },
): Promise<string | null> {
  const [runs] = parts.runs.list();
  if (runs === undefined || !(await claims.beat([claim.id])).has(claim.id)) {
    throw new AppError("unavailable", takenOver);
  }
  const messageId = `${claim.id}-${claim.token}`;
  const end = waitForEnd({ chatId, messageId, lost }, principal, parts);
  try {
    const { data } = row;
    const { meta } = await parts.models.resolve(principal, data.model_id);
    const toolIds = toTexts(meta["toolIds"]);
    await runs.start(
      {
        model: data.model_id,
        messages: [{ role: "user", content: data.prompt }],
        stream: true,
        chat_id: chatId,
        id: messageId,
        parent_id: questionOf(claim),
        session_id: `automation:${row.id}`,
        features: Object.fromEntries(toTexts(meta["defaultFeatureIds"]).map((id) => [id, true])),
        ...(toolIds.length > 0 && { tool_ids: toolIds }),
        ...(data.terminal && { terminal_id: data.terminal.server_id }),
      },
      { principal },
    );
    end.begin();
    return await end.outcome;
  } finally {
    end.drop();
  }
}

const takenOver = "Another process has taken the run over.";

/** Listens for the end of a reply; stops it when the run's right has expired. */
function waitForEnd(
  { chatId, messageId, lost }: { chatId: string; messageId: string; lost: AbortSignal },
  principal: Principal,
  { events, context, control, log }: AutomationParts,
) {
  const { promise, resolve } = Promise.withResolvers<string | null>();
  const observe = ({ event, subject, data }: SystemEvent) => {
    const facts = (data ?? {}) as { message_id?: unknown; error?: unknown };
    // A reply of an earlier try may end in the same chat.
    if (subject?.id === chatId && facts.message_id === messageId) {
      resolve(event === "chat.finished" ? null : String(facts.error ?? "The reply failed."));
    }
  };
  const dropped = [events.on("chat.finished", observe), events.on("chat.failed", observe)];
  lost.addEventListener("abort", () => resolve(takenOver), { once: true });
  let looking: NodeJS.Timeout | undefined;
  const look = async () => {
    if (!(await context.isRunning(chatId))) {
      resolve("The reply ended before it was complete.");
    }
  };
  const timer = setTimeout(
    () => {
      resolve("The run took longer than its right to act lasts (AUTOMATION_AUTH_TOKEN_EXPIRES_IN).");
      control
        .stopChat(principal, chatId)
        .catch((error: unknown) => log.warn({ err: error, chat: chatId }, "a run could not be stopped"));
    },
    msUntil(principal.session?.expiresAt ?? null),
  );
  timer.unref();
  return {
    outcome: promise,
    /** From now on the reply is there: one that ends without a word, such as with its chat, is noticed too. */
    begin() {
      looking = setInterval(() => void look().catch(() => undefined), lookMs);
    },
    drop() {
      clearTimeout(timer);
      clearInterval(looking);
      dropped.forEach((drop) => drop());
    },
  };
}

/** Longer waits than a timer can hold end with the process. */
function msUntil(expiresAt: number | null): number {
  const longest = 2 ** 31 - 1;
  return expiresAt === null ? longest : Math.min(expiresAt * 1_000 - Date.now(), longest);
}
