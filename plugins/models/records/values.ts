import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { Pictures } from "#plugins/accounts/service.ts";
import type { ModelRow, ModelValues } from "./store.ts";
import { picturePath } from "./wire.ts";

/** Fields of a form; undefined ones were left out. */
export interface ModelForm {
  readonly id: string;
  readonly base_model_id?: string | null | undefined;
  readonly name?: string | undefined;
  readonly model?: string | null | undefined;
  readonly meta?: Record<string, unknown> | undefined;
  readonly params?: Record<string, unknown> | undefined;
  readonly is_active?: boolean | undefined;
}

const longestId = 256;

/** Contract §0: a model's id is a word of the caller's choice with at most 256 characters; else 400. */
export function requireModelId(id: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (id.length > longestId || id !== id.trim() || /[\u0000-\u001f\u007f]/.test(id)) {
    throw new AppError(
      "invalid",
      `A model id has 1 to ${longestId} characters, none of them a control character or a space at either end.`,
    );
  }
  return id;
}

/** The record as it will be: the form laid over the row, or over nothing. Left-out keys keep what is stored. */
export function toValues(form: ModelForm, row: ModelRow | undefined, pictures: Pictures): ModelValues {
  const { profile_image_url: picture, ...sent } = form.meta ?? {};
  return {
    base_model_id:
      form.base_model_id === undefined ? (row?.base_model_id ?? null) : form.base_model_id || null,
    name: form.name ?? row?.name ?? form.id,
    model: form.model === undefined ? (row?.model ?? null) : form.model,
    params: form.params ?? row?.params ?? {},
    meta: form.meta === undefined ? (row?.meta ?? {}) : withAvatar(sent, row),
    picture:
      form.meta === undefined
        ? undefined
        : toPicture(picture, { id: form.id, isNew: row === undefined, pictures }),
    is_active: form.is_active ?? row?.is_active ?? true,
  };
}

/**
 * A record without a base edits a provider's model for everybody and says who may use it, which is for
 * administrators. Throws `forbidden`.
 */
export function requireBaseRight(caller: Principal, next: string | null, row: ModelRow | undefined): void {
  const isChanged = row === undefined || row.base_model_id !== next;
  if (isChanged && (next === null || row?.base_model_id === null) && caller.role !== "admin") {
    throw new AppError(
      "forbidden",
      "Only administrators may save a model without a base_model_id: it edits a provider's model.",
    );
  }
}

/** Forms that know nothing of avatars must not remove them; null does. */
function withAvatar(meta: Record<string, unknown>, row: ModelRow | undefined): Record<string, unknown> {
  const { voice_avatar: avatar, ...rest } = meta;
  const kept = avatar === undefined ? row?.meta["voice_avatar"] : avatar;
  return kept === undefined || kept === null ? rest : { ...rest, voice_avatar: kept };
}

function toPicture(
  sent: unknown,
  { id, isNew, pictures }: { id: string; isNew: boolean; pictures: Pictures },
): string | null | undefined {
  if (typeof sent !== "string" || sent === "") {
    return null;
  }
  // Forms send the whole record back; the address under which the picture is answered is not the picture.
  if (sent === picturePath(id)) {
    return isNew ? null : undefined;
  }
  return pictures.require(sent);
}
