import { AppError } from "#kernel/errors.ts";
import type { ContextRun } from "#plugins/completions/service.ts";
import type { FileRecord } from "#plugins/files/service.ts";
import { chatText } from "./chat-text.ts";
import { expandItems } from "./expand.ts";
import type { Wanted } from "./items.ts";
import type { ContextParts, OnProblem } from "./parts.ts";
import { readFile } from "./read-files.ts";
import type { WholeText } from "./sources.ts";

/** What is known of a run's items before anything is searched. */
export interface Collected {
  /** To be searched, or given whole as settings say. */
  readonly files: readonly { readonly file: FileRecord; readonly isWhole: boolean }[];
  readonly collections: readonly {
    readonly names: readonly string[];
    readonly name: string;
    readonly isWhole: boolean;
  }[];
  readonly texts: readonly WholeText[];
}

/** Looks at every item of a run as it stands now: access is asked for anew, and what cannot be had is told. */
export async function collect(
  run: ContextRun,
  parts: ContextParts,
  onProblem: OnProblem,
): Promise<Collected> {
  const isGone = ({ name }: Wanted) => onProblem(`“${name}” is gone, or may not be read by you any more.`);
  const items = await expandItems(run, parts, isGone);
  const { principal, signal } = run;
  const reading = { files: parts.files, principal, signal, waitSeconds: parts.settings.waitSeconds };
  const files: { file: FileRecord; isWhole: boolean }[] = [];
  const collections: { names: readonly string[]; name: string; isWhole: boolean }[] = [];
  const texts: WholeText[] = [];
  for (const item of items) {
    if (item.kind === "file") {
      const { file, problem } = await readFile(item, reading);
      if (file === undefined) {
        onProblem(problem);
      } else {
        files.push({ file, isWhole: item.isWhole });
      }
    } else if (item.kind === "collections") {
      collections.push(item);
    } else if (item.kind === "inline") {
      texts.push(
        ...item.texts.map((text, at): WholeText => ({
          ...text,
          id: text.url ?? `${text.name}#${at + 1}`,
          type: text.url === undefined ? "text" : "url",
          isCut: false,
        })),
      );
    } else if (item.kind === "empty") {
      onProblem(`“${item.name}” holds no text, so the model was given nothing of it.`);
    } else {
      const text = await tryOr(
        () => readOther(item, run, parts),
        run,
        ({ message }) =>
          item.kind === "page" ? onProblem(`“${item.name}” could not be read: ${message}`) : isGone(item),
      );
      texts.push(...(text === undefined ? [] : [text]));
    }
  }
  return { files, collections, texts };
}

async function readOther(
  item: Extract<Wanted, { kind: "chat" | "page" | "folder" }>,
  run: ContextRun,
  parts: ContextParts,
): Promise<WholeText> {
  if (item.kind !== "page") {
    return await chatText(parts.chats, run.principal, item.id);
  }
  const page = await parts.loadPage(item.url, run.signal);
  if (page === undefined) {
    throw new AppError("not_found", "pages of the web are not read here.");
  }
  const { finalUrl: url, title, content, isTruncated } = page;
  return { id: url, type: "url", name: title || url, url, content, isCut: isTruncated };
}

/** Refusals are told; anything else ends the run. */
async function tryOr<T>(
  work: () => Promise<T>,
  { signal }: ContextRun,
  refused: (error: AppError) => void,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof AppError)) {
      throw error;
    }
    refused(error);
    return undefined;
  }
}
