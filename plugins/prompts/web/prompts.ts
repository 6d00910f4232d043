import type { Api } from "#plugins/catalogue.ts";

export type PromptItem = Api["GET /api/v1/prompts/list"]["answer"]["items"][number];
export type PromptRecord = Api["GET /api/v1/prompts/id/:id"]["answer"];
export type PromptVersion = Api["GET /api/v1/prompts/id/:id/history"]["answer"][number];

export const listPath = "/workspace/prompts";
export const newPath = "/workspace/new-prompt";
export const toPath = (id: string): string => `/workspace/prompt/${encodeURIComponent(id)}`;
