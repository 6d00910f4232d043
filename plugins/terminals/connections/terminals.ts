import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { Caller } from "../proxy/identity.ts";
import { type StoredTerminal, type Terminal, toTerminal } from "./schema.ts";

/** Where somebody wants to use a terminal. */
export interface Place {
  /** The saved chat; undefined outside of one. */
  readonly chatId: string | undefined;
  /** The automation whose run wants it. */
  readonly automationId?: string | undefined;
}

export interface TerminalsParts {
  stored(): readonly StoredTerminal[];
  /** True when administrators pass without a grant. */
  passes(principal: Principal): boolean;
}

/** The configured terminals, by who may use them. */
export interface Terminals {
  all(): readonly Terminal[];
  /** Those that the caller may use somewhere. */
  usable(principal: Principal): readonly Terminal[];
  /** Throws `unavailable` for one that is unknown, switched off or not granted, all alike. */
  require(principal: Principal, id: string): Terminal;
}

/** Builds the list over the setting, read at the time of use. */
export function createTerminals({ stored, passes }: TerminalsParts): Terminals {
  let [known, made]: [readonly StoredTerminal[], readonly Terminal[]] = [[], []];
  const all = () => {
    const now = stored();
    if (now !== known) {
      [known, made] = [now, now.map(toTerminal)];
    }
    return made;
  };
  const isUsable = (principal: Principal) => (terminal: Terminal) =>
    terminal.isEnabled &&
    terminal.problem === undefined &&
    (passes(principal) || isGranted(terminal.grants, principal));
  return {
    all,
    usable: (principal) => all().filter(isUsable(principal)),
    require(principal, id) {
      const found = all().find((terminal) => terminal.id === id);
      if (found === undefined || !isUsable(principal)(found)) {
        throw new AppError("unavailable", "The terminal is not available.");
      }
      return found;
    },
  };
}

/** Without grants a terminal is for administrators alone (contract §5.1). */
function isGranted(grants: Terminal["grants"], { userId, groupIds }: Principal): boolean {
  return grants.some(({ principal_type: type, principal_id: id }) =>
    type === "group" ? groupIds.includes(id) : type === "user" && (id === "*" || id === userId),
  );
}

/**
 * Throws `unavailable` where the terminal is not for this place: runs of automations have a rule of their own, though
 * each is a chat. Core API, chat completion rule 13 and terminal entry.
 */
export function requirePlace({ contexts }: Terminal, { chatId, automationId }: Place): void {
  if (automationId !== undefined) {
    if (contexts?.automation === false) {
      throw new AppError("unavailable", "The terminal is not available for automations.");
    }
    return;
  }
  const chat = contexts?.chat;
  if (chat === false) {
    throw new AppError("unavailable", "The terminal is not available for chats.");
  }
  if (chat !== undefined && "context_id" in chat && chatId === undefined) {
    throw new AppError("unavailable", "The terminal needs a saved chat.");
  }
}

/** The caller of a run, in a place that the terminal is for. Throws as `requirePlace` does. */
export function toCaller(
  terminal: Terminal,
  {
    principal,
    chatId: chat,
    messageId,
  }: { principal: Principal; chatId: string | undefined; messageId?: string },
): Caller {
  const { automationId } = principal;
  const chatId = toSavedChat(chat);
  requirePlace(terminal, { chatId, automationId });
  const automation = terminal.contexts?.automation;
  const isOfAutomation = automationId !== undefined && automation && "context_id" in automation;
  return { principal, sessionId: isOfAutomation ? automationId : chatId, messageId };
}

/** The id of a chat whose messages are kept; undefined for a temporary one and for channels. */
function toSavedChat(chatId: string | undefined): string | undefined {
  return chatId && !/^(?:temporary|channel):/.test(chatId) ? chatId : undefined;
}
