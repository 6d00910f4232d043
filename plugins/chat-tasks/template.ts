import type { Message } from "#kernel/completion/request.ts";
import { fillTemplate, type TemplateFacts } from "#plugins/models/service.ts";
import { type Cut, type CutKind, cutList, cutText } from "./cut.ts";

/** The values of the variables in task templates (contract §3.7). */
export interface TaskFacts {
  readonly messages: readonly Message[];
  /** The person's own words: what was typed, or the last user message. */
  readonly prompt: string;
  /** `{{TYPE}}`, of completing what is being typed. */
  readonly type?: string | undefined;
  /** `{{responses}}`, of merging several answers. */
  readonly responses?: readonly string[] | undefined;
  /** For the variables of system prompts; they stay as they stand without. */
  readonly system?: TemplateFacts | undefined;
}

/**
 * Fills the template of a task. All variables are replaced in one go and values are not read again: a message that
 * holds a variable brings nothing in.
 */
export function fillTaskTemplate(template: string, facts: TaskFacts): string {
  return template.replaceAll(
    /\{\{[^{}]{1,100}\}\}/g,
    (token) => resolve(token.slice(2, -2).trim(), facts) ?? fillSystem(token, facts.system),
  );
}

/** True when a template names the person or the time, whose facts have to be looked up. */
export function namesPerson(template: string): boolean {
  return /\{\{\s*(?:CURRENT|USER)_/.test(template);
}

/** The words of a message, parts joined. */
export function toText({ content }: Pick<Message, "content">): string {
  if (!Array.isArray(content)) {
    return content ?? "";
  }
  return content
    .map((part) => part["text"])
    .filter((text) => typeof text === "string")
    .join("\n");
}

const promptForm = /^prompt(?::(start|end|middletruncate):(\d{1,9}))?$/;
const messagesForm =
  /^MESSAGES(?::(START|END|MIDDLETRUNCATE):(\d{1,9}))?(?:\|(start|end|middletruncate):(\d{1,9}))?$/;

function resolve(name: string, facts: TaskFacts): string | undefined {
  if (name === "TYPE") {
    return facts.type ?? "";
  }
  if (name === "responses") {
    return (facts.responses ?? []).map((text) => `"""${text}"""`).join("\n\n");
  }
  const prompt = promptForm.exec(name);
  if (prompt) {
    return cutTextBy(facts.prompt, toCut(prompt[1], prompt[2]));
  }
  const messages = messagesForm.exec(name);
  if (messages === null) {
    return undefined;
  }
  const [, which, count, part, size] = messages;
  const list = toCut(which?.toLowerCase(), count);
  const each = toCut(part, size);
  return (list ? cutList(facts.messages, list) : facts.messages)
    .map((message) => `${message.role.toUpperCase()}: ${cutTextBy(toText(message), each)}`)
    .join("\n");
}

function fillSystem(token: string, system: TemplateFacts | undefined): string {
  return system ? fillTemplate(token, system) : token;
}

function toCut(kind: string | undefined, size: string | undefined): Cut | undefined {
  return kind === undefined ? undefined : { kind: kind as CutKind, size: Number(size) };
}

function cutTextBy(text: string, cut: Cut | undefined): string {
  return cut ? cutText(text, cut) : text;
}
