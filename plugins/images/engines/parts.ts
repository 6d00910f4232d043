import type { Egress } from "#kernel/egress/egress.ts";
import type { ImageSettings } from "../config.ts";

export interface EngineParts {
  readonly egress: Pick<Egress, "fetch">;
  readonly settings: ImageSettings;
}

export const toSize = ({ width, height }: { readonly width: number; readonly height: number }) =>
  `${width}x${height}`;
