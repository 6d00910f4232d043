import type { GrantRow } from "#storage/grants.ts";
import { toPublicControls } from "../catalogue/controls.ts";
import type { ModelRow } from "./store.ts";

/** A record as the wire shows it (Core API, model record). */
export interface WireModel {
  id: string;
  user_id: string;
  base_model_id: string | null;
  name: string;
  /** As it was sent; the id where nothing was. Requests call a model by its id. */
  model: string;
  meta: Record<string, unknown>;
  params: Record<string, unknown>;
  access_grants?: GrantRow[];
  is_active: boolean;
  created_at: number;
  updated_at: number;
}

/** Where a model's picture is answered; records name it instead of carrying the bytes. */
export function picturePath(id: string): string {
  return `/api/v1/models/model/profile/image?id=${encodeURIComponent(id)}`;
}

/** The record for those who may change it. */
export function toModel(row: ModelRow, grants: GrantRow[]): WireModel {
  return { ...toFields(row), meta: toMeta(row), params: row.params, access_grants: grants };
}

/** The record for those who may only use it: no prompt, no parameters but the controls, no knowledge, no grants (contract D.31). */
export function toReadersModel(row: ModelRow): WireModel {
  const { knowledge: _hidden, ...meta } = toMeta(row);
  return { ...toFields(row), meta, params: toReadersParams(row.params) };
}

/** All that readers see of parameters. */
export function toReadersParams(params: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return { model_controls: toPublicControls(params["model_controls"]) };
}

function toFields({ id, user_id, base_model_id, name, model, is_active, created_at, updated_at }: ModelRow) {
  return { id, user_id, base_model_id, name, model: model ?? id, is_active, created_at, updated_at };
}

function toMeta({ id, meta, picture }: ModelRow): Record<string, unknown> {
  return picture === null
    ? meta
    : { ...meta, profile_image_url: picture.startsWith("data:") ? picturePath(id) : picture };
}
