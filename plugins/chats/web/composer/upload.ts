import type { Api } from "#plugins/catalogue.ts";
import { ApiError } from "#plugins/web/kit/client.ts";
import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { accountHeaders, server } from "#plugins/web/kit/server.ts";

export type StoredFile = Api["POST /api/v1/files/"]["answer"];

interface UploadOptions {
  readonly signal: AbortSignal;
  /** Told the share of the bytes that are sent. */
  onprogress(share: number): void;
}

/** Refused before it is sent. */
export class TooLarge extends Error {}

/** True for a refusal of the file itself, which sending it again does not change. */
export const isFinal = (error: unknown): boolean =>
  error instanceof TooLarge || (error instanceof ApiError && [400, 413, 415].includes(error.status));

/** Stores a file; its text is read in the background. Of what browsers have, only this request tells how far it is. */
export function uploadFile(file: File, { signal, onprogress }: UploadOptions): Promise<StoredFile> {
  return new Promise((resolve, reject) => {
    // oxlint-disable-next-line eslint/no-restricted-globals -- fetch does not tell how much was sent
    const request = new XMLHttpRequest();
    const body = new FormData();
    body.append("file", file);
    request.open("POST", "/api/v1/files/");
    const headers = { accept: "application/json", ...accountHeaders() };
    Object.entries(headers).forEach(([name, value]) => request.setRequestHeader(name, value));
    request.responseType = "json";
    request.upload.addEventListener("progress", ({ loaded, total }) =>
      onprogress(total > 0 ? loaded / total : 0),
    );
    request.addEventListener("load", () =>
      request.status < 400
        ? resolve(request.response as StoredFile)
        : reject(new ApiError(request.status, request.response)),
    );
    request.addEventListener("error", () => reject(new Error(t("The server could not be reached."))));
    request.addEventListener("abort", () => reject(signal.reason as Error));
    signal.addEventListener("abort", () => request.abort());
    request.send(body);
  });
}

const firstDelayMs = 400;
const longestDelayMs = 3000;

/** Resolves once the text of a file was read; rejects with the reason when it could not be. */
export async function followProcessing(id: string, signal: AbortSignal): Promise<void> {
  for (let delay = firstDelayMs; ; delay = Math.min(longestDelayMs, delay * 1.5)) {
    const { status, error } = (await server.call("GET /api/v1/files/:id/process/status", {
      params: { id },
      signal,
    })) as { status: "pending" | "completed" | "failed"; error?: string };
    if (status === "completed") {
      return;
    }
    if (status === "failed") {
      throw new Error(error ?? t("The text of this file could not be read."));
    }
    await new Promise((resolve) => setTimeout(resolve, delay));
    signal.throwIfAborted();
  }
}
