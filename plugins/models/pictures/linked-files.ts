import { avatarFiles } from "./avatar.ts";
import type { ModelRecord, RecordMap } from "../records/records.ts";

type Meta = Readonly<Record<string, unknown>>;

const fileUrl =
  /^\/api\/v1\/files\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:\/content(?:\/[^/?#]*)?)?(?:[?#].*)?$/i;

/** The path under which a background image stands in `meta.background_image_url`. */
export function toFileUrl(fileId: string): string {
  return `/api/v1/files/${fileId}/content`;
}

/** The file that a record's background image is; undefined for none, or one that lies elsewhere. */
export function backgroundFile(meta: Meta): string | undefined {
  return fileUrl.exec(String(meta["background_image_url"] ?? ""))?.[1]?.toLowerCase();
}

/** Every file that those who may use a model need for showing it. */
export function linkedFiles(meta: Meta): string[] {
  const background = backgroundFile(meta);
  return [...(background === undefined ? [] : [background]), ...avatarFiles(meta["voice_avatar"])];
}

const indexes = new WeakMap<RecordMap, ReadonlyMap<string, readonly ModelRecord[]>>();

/** The records that show a file. */
export function recordsWithFile(records: RecordMap, fileId: string): readonly ModelRecord[] {
  let index = indexes.get(records);
  if (index === undefined) {
    const pairs = [...records.values()].flatMap((record) =>
      linkedFiles(record.meta).map((id) => ({ id, record })),
    );
    index = new Map(
      [...Map.groupBy(pairs, ({ id }) => id)].map(([id, found]) => [id, found.map(({ record }) => record)]),
    );
    indexes.set(records, index);
  }
  return index.get(fileId.toLowerCase()) ?? [];
}
