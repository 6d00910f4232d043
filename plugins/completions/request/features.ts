import type { CompletionRequest } from "#kernel/completion/request.ts";
import type { Tool } from "#kernel/tools/tool.ts";
import type { VoiceSettings } from "../media/voice.ts";

/** The features that a request switches on and nothing here serves: the answer says so. Contract D.37. */
export function ignoredFeatures(
  { features }: Pick<CompletionRequest, "features">,
  { tools, features: gathered }: { readonly tools: readonly Tool[]; readonly features: readonly string[] },
  { voiceEnabled }: Pick<VoiceSettings, "voiceEnabled">,
): string[] {
  const isServed = (name: string) =>
    name === "voice"
      ? voiceEnabled
      : gathered.includes(name) || tools.some(({ feature }) => feature === name);
  return Object.entries(features ?? {})
    .filter(([name, wanted]) => wanted === true && !isServed(name))
    .map(([name]) => name);
}

/** The header that names them over HTTP; names that no header can carry are left out. */
export function toIgnoredHeader(ignored: readonly string[]): { "x-service-ignored"?: string } {
  const names = ignored.filter((name) => /^[\w.-]{1,100}$/.test(name)).slice(0, 50);
  return names.length > 0 ? { "x-service-ignored": names.map((name) => `features.${name}`).join(", ") } : {};
}
