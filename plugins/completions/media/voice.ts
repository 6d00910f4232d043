import type { CompletionRequest, Message } from "#kernel/completion/request.ts";

export interface VoiceSettings {
  /** ENABLE_VOICE_MODE_PROMPT. */
  readonly voiceEnabled: boolean;
  /** VOICE_MODE_PROMPT_TEMPLATE. */
  readonly voicePrompt: string;
}

const builtIn = `The user talks to you and hears your answer read aloud. Answer the way people speak: short, friendly
sentences in the language of the user. Use no headings, lists, tables, code blocks, links or emoji; where a list is asked
for, say it in words. Write out numbers, units and abbreviations as they are spoken. Give the answer first and ask before you
go into detail.`;

/** In calls (`features.voice`) the model is told that its answer is heard, behind all it was told (contract §3.2, step 7). */
export function withVoicePrompt(request: CompletionRequest, settings: VoiceSettings): CompletionRequest {
  if (request.features?.["voice"] !== true || !settings.voiceEnabled) {
    return request;
  }
  const text = settings.voicePrompt.trim() === "" ? builtIn : settings.voicePrompt;
  const [first, ...rest] = request.messages;
  const messages: Message[] =
    first?.role === "system"
      ? [{ ...first, content: append(first.content, text) }, ...rest]
      : [{ role: "system", content: text }, ...request.messages];
  return { ...request, messages };
}

function append(content: Message["content"], text: string): NonNullable<Message["content"]> {
  return Array.isArray(content)
    ? [...content, { type: "text", text }]
    : [content ?? "", text].filter((part) => part !== "").join("\n\n");
}
