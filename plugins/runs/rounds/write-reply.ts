import { toTags } from "#kernel/completion/reasoning-tags.ts";
import { toContent } from "#kernel/completion/reply-text.ts";
import type { ToolOutput } from "#kernel/tools/output.ts";
import type { OpenRun } from "#plugins/completions/service.ts";
import { toErrorText } from "../errors.ts";
import { inlinePictures } from "../history/pictures.ts";
import type { RunParts } from "../parts.ts";
import { Output } from "../reply/output.ts";
import { createUsageTotal } from "../reply/usage.ts";
import type { ReplyWriter, WrittenReply } from "../service.ts";
import { createRunTrust } from "#kernel/tools/run-trust.ts";
import { deliver, type FileEntry } from "./deliver.ts";
import { runRounds } from "./loop.ts";

type WriterParts = Pick<RunParts, "completions" | "files" | "log" | "settings">;

/** Writes replies whose place is not a chat: the rounds are those of chats, and the caller stores what comes. */
export function createReplyWriter(parts: WriterParts): ReplyWriter {
  return {
    async write({ admitted, request, principal, signal, onText }): Promise<WrittenReply> {
      const files: FileEntry[] = [];
      const usage = createUsageTotal();
      const text = () => toContent(output.items);
      const nothing = () => {};
      const output = new Output(
        { delta: nothing, details: nothing, border: nothing },
        { tags: toTags(admitted.model.params["reasoning_tags"]) },
      );
      const settings = parts.settings();
      const pictures = { files: parts.files, byExtension: settings.typesByExtension };
      const show = (given: ToolOutput) =>
        deliver(given, {
          ...parts,
          principal,
          stores: true,
          stored: async () => {},
          reply: {
            addFiles: (added) => void files.push(...(added as FileEntry[])),
            addEmbeds: nothing,
            addSources: nothing,
          },
        });
      let open: OpenRun | undefined;
      let error: string | undefined;
      try {
        const messages = await inlinePictures(request.messages, principal, pictures);
        open = await admitted.open({ ...request, messages: [...messages] }, { principal, signal });
        await Promise.all(open.shown.map(show));
        error = await runRounds({
          run: open,
          output,
          usage,
          context: {
            principal,
            chatId: request.chat_id ?? undefined,
            messageId: request.id ?? undefined,
            sessionId: request.session_id ?? undefined,
            signal,
            trust: createRunTrust("messages of other people"),
          },
          log: parts.log,
          maxIterations: settings.maxIterations,
          stopsRepeats: settings.stopsRepeats,
          extra: nothing,
          deliver: show,
          withPictures: (list) => inlinePictures(list, principal, pictures),
          grown: () => onText(text()),
          spent: nothing,
        });
      } catch (failure) {
        error = signal.aborted ? undefined : toErrorText(failure, parts.log);
      }
      output.endRound();
      await open
        ?.close()
        .catch((failure: unknown) =>
          parts.log.warn({ err: failure }, "a reply could not be closed properly"),
        );
      return { content: text(), error, files };
    },
  };
}
