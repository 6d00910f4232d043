import { hasPermission } from "#kernel/access/permissions.ts";
import { AppError } from "#kernel/errors.ts";
import type { Logger } from "#kernel/log.ts";
import type { ImagePromptWriter } from "#plugins/chat-tasks/service.ts";
import type { ContextRun, ContextSource, GatheredContext } from "#plugins/completions/service.ts";
import type { ImageSettings } from "./config.ts";
import type { Gallery } from "./gallery.ts";
import type { Images } from "./images.ts";
import { show } from "./tools.ts";

export interface LegacyImageParts {
  readonly settings: ImageSettings;
  readonly images: Images;
  readonly gallery: Gallery;
  readonly writer: ImagePromptWriter | undefined;
  readonly log: Logger;
}

const feature = "image_generation";
const drawn =
  "A picture that the user asked for was made just now and is shown to them. Say in a sentence that it is there, and do not claim that you cannot make pictures.";

/**
 * Makes a picture for runs without tool calls of their own whose request switches `features.image_generation` on
 * (contract §3.2, step 7). A failure is told in the reply and to the model, which answers all the same.
 */
export function createLegacyImages(parts: LegacyImageParts): ContextSource {
  return {
    id: "images",
    isNeeded({ request, model, mode }) {
      const capabilities = model.meta["capabilities"] as Readonly<Record<string, unknown>> | undefined;
      const isOn = request.features?.[feature] === true && capabilities?.[feature] !== false;
      // Only a reply in a chat has a place for pictures; elsewhere the feature counts as ignored.
      const isShown = Boolean(request.chat_id && request.id);
      return isOn && isShown && mode === "legacy" && parts.images.isReady("generate");
    },
    async gather(run) {
      // The feature then counts as ignored, as for everybody who may not use it (contract D.37).
      return hasPermission(run.principal, `features.${feature}`) ? await draw(run, parts) : { sources: [] };
    },
  };
}

async function draw(run: ContextRun, parts: LegacyImageParts): Promise<GatheredContext> {
  const status = (description: string, done: boolean) =>
    run.onStatus({ action: feature, description, done, hidden: false });
  status("Making a picture", false);
  const { principal, signal } = run;
  try {
    const prompt = await toPrompt(run, parts);
    const made = await parts.images.make("generate", principal, { prompt }, signal);
    const shown = await show(made, { parts, principal, made: [] });
    status("Made a picture", true);
    return { sources: [], features: [feature], instructions: drawn, shown: [shown] };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof AppError)) {
      throw error;
    }
    status("No picture could be made", true);
    return {
      sources: [],
      features: [feature],
      instructions: `The user asked for a picture, and none could be made: ${error.message} Tell them so.`,
      problems: [`No picture could be made: ${error.message}`],
    };
  }
}

/** A task model's description of the picture; the person's own words where none is written (contract §3.7). */
async function toPrompt(run: ContextRun, { settings, writer, log }: LegacyImageParts): Promise<string> {
  const { principal, model, request, chatId, signal } = run;
  if (settings.promptWriting && writer !== undefined) {
    try {
      return await writer.write({
        principal,
        model,
        messages: request.messages,
        variables: request.variables ?? undefined,
        filterIds: request.filter_ids ?? undefined,
        chatId,
        messageId: request.id ?? undefined,
        signal,
      });
    } catch (error) {
      signal.throwIfAborted();
      log.warn({ err: error }, "no description of a picture could be written; the person's words are used");
    }
  }
  const content = request.messages.findLast(({ role }) => role === "user")?.content ?? "";
  const parts = typeof content === "string" ? [content] : content.map((part) => part["text"]);
  return parts
    .filter((part) => typeof part === "string")
    .join(" ")
    .slice(0, 4_000);
}
