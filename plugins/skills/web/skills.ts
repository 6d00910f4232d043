import type { Api } from "#plugins/catalogue.ts";

export type SkillItem = Api["GET /api/v1/skills/list"]["answer"]["items"][number];
export type SkillRecord = Api["GET /api/v1/skills/id/:id"]["answer"];

export const listPath = "/workspace/skills";
export const newPath = "/workspace/new-skill";
export const toPath = (id: string): string => `/workspace/skill/${encodeURIComponent(id)}`;
