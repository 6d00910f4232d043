import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { Slot } from "#kernel/service.ts";
import type { FileRecord, Files } from "#plugins/files/service.ts";
import { avatarFiles } from "../pictures/avatar.ts";
import { backgroundFile, linkedFiles } from "../pictures/linked-files.ts";
import type { ModelReferences } from "../service.ts";

type Meta = Readonly<Record<string, unknown>>;

export interface ReferenceOptions {
  readonly files: Files;
  readonly references: Slot<ModelReferences>;
  /** Admins who pass without a grant may show everybody's files, and name what this instance does not know (yet). */
  passes(principal: Principal): boolean;
}

export interface ReferenceCheck {
  /**
   * Refuses a record that shows files which are not its writer's, or names knowledge that its writer may not read:
   * whoever may use the model will see the files and ask the knowledge. What the record named before (`before`) stays;
   * imports (`all`) ask whether its files can be read. Throws `forbidden`, `not_found` and `invalid`.
   */
  require(
    caller: Principal,
    meta: Meta,
    options: { before?: Meta | undefined; all?: boolean },
  ): Promise<void>;
}

/** Core API, Errors: the text for import and sync, said everywhere. */
const avatarRefused = "Avatar or animation file is not accessible. Upload it again.";

export function createReferenceCheck(options: ReferenceOptions): ReferenceCheck {
  return {
    async require(caller, meta, { before = {}, all = false }) {
      const known = all ? {} : before;
      const given = avatarFiles(known["voice_avatar"]);
      for (const id of avatarFiles(meta["voice_avatar"]).filter((file) => !given.includes(file))) {
        await requireShown(options, {
          caller,
          id,
          before,
          refusal: new AppError("forbidden", avatarRefused),
        });
      }
      await requireBackground(options, { caller, meta, known, before });
      if (!options.passes(caller)) {
        await requireKnowledge(options, { caller, meta, before });
      }
    },
  };
}

/** Files and knowledge read through a share are not the caller's to lend: the model would show them after the share ended. */
async function requireShown(
  { files, passes }: ReferenceOptions,
  { caller, id, before, refusal }: { caller: Principal; id: string; before: Meta; refusal: AppError },
): Promise<void> {
  const file = await requireFile(files, { caller, id, refusal });
  if (file.user_id !== caller.userId && !passes(caller) && !linkedFiles(before).includes(id)) {
    throw refusal;
  }
}

async function requireFile(
  files: Files,
  { caller, id, refusal }: { caller: Principal; id: string; refusal: AppError },
): Promise<FileRecord> {
  try {
    return await files.load(caller, id, "read");
  } catch (error) {
    throw error instanceof AppError && error.code === "not_found" ? refusal : error;
  }
}

async function requireBackground(
  options: ReferenceOptions,
  { caller, meta, known, before }: { caller: Principal; meta: Meta; known: Meta; before: Meta },
): Promise<void> {
  const url = meta["background_image_url"];
  if (typeof url !== "string" || url === "" || url === known["background_image_url"]) {
    return;
  }
  const id = backgroundFile(meta);
  if (id !== undefined) {
    const refusal = new AppError("not_found", "Background image not found. Upload it again.");
    await requireShown(options, { caller, id, before, refusal });
  } else if (!isWebAddress(url)) {
    throw new AppError(
      "invalid",
      "meta.background_image_url must be the address of an uploaded file or begin with http:// or https://.",
    );
  }
}

function isWebAddress(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return (
    (url?.protocol === "https:" || url?.protocol === "http:") && url.username === "" && url.password === ""
  );
}

/** A model lends its knowledge to whoever may use it, so only what one may read can be lent. */
async function requireKnowledge(
  { files, references }: ReferenceOptions,
  { caller, meta, before }: { caller: Principal; meta: Meta; before: Meta },
): Promise<void> {
  const held = new Set(toKnowledge(before).map(keyOf));
  const fresh = toKnowledge(meta).filter((entry) => !held.has(keyOf(entry)));
  const refusal = new AppError("not_found", "Knowledge not found");
  for (const [type, entries] of Map.groupBy(fresh, (entry) => entry.type)) {
    const ids = entries.map(({ id }) => id);
    if (type === "file") {
      for (const id of ids) {
        await requireFile(files, { caller, id, refusal });
      }
      continue;
    }
    const owner = references.list().find(({ types }) => types.includes(type));
    const readable = (await owner?.readable(caller, type, ids)) ?? new Set<string>();
    if (ids.some((id) => !readable.has(id))) {
      throw refusal;
    }
  }
}

interface Knowledge {
  readonly type: string;
  readonly id: string;
}

function toKnowledge(meta: Meta): Knowledge[] {
  const entries = Array.isArray(meta["knowledge"]) ? (meta["knowledge"] as Record<string, unknown>[]) : [];
  return entries.flatMap(({ type, id }) =>
    typeof id === "string" ? [{ id, type: typeof type === "string" ? type : "collection" }] : [],
  );
}

function keyOf({ type, id }: Knowledge): string {
  return `${type} ${id}`;
}
