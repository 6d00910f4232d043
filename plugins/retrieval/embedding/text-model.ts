/** Embeds one text; the numbers need not have the length 1. */
export type TextModel = (text: string) => Promise<Float32Array>;

/** A failure whose message people may read. */
export class ModelError extends Error {}
