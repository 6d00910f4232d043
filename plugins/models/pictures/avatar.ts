import { z } from "zod";

/** Any text: an id that no file can have is one whose file is not accessible (Core API, Errors). */
const AvatarFile = z.string().min(1).max(200);

const FileRef = z.strictObject({ file_id: AvatarFile });

const Gesture = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, "must be lower-case letters, digits and underscores"),
  description: z.string().trim().min(1).max(1000),
  file_id: AvatarFile,
});

/** Settings of older releases that no longer mean anything. */
const forgotten = ["preset", "movement", "mouth", "gaze"];

/**
 * `meta.voice_avatar`: the figure that speaks in calls, its clips by state and its named gestures. Only ids of files
 * stand in it, so a record carries it from instance to instance without the files (Core API, model record rule 2).
 */
export const VoiceAvatar = z.preprocess(
  (value) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).filter(([key]) => !forgotten.includes(key)))
      : value,
  z.strictObject({
    file_id: AvatarFile,
    states: z
      .strictObject({
        idle: FileRef.optional(),
        listening: FileRef.optional(),
        speaking: FileRef.optional(),
      })
      .default({}),
    gestures: z
      .array(Gesture)
      .max(16)
      .refine((list) => new Set(list.map(({ name }) => name)).size === list.length, "names a gesture twice")
      .default([]),
  }),
);

/** The files of an avatar: itself, its clips and its gestures. */
export function avatarFiles(avatar: unknown): string[] {
  const parsed = VoiceAvatar.safeParse(avatar);
  if (!parsed.success) {
    return [];
  }
  const { file_id: own, states, gestures } = parsed.data;
  const clips = Object.values(states).flatMap((state) => (state ? [state.file_id] : []));
  return [...new Set([own, ...clips, ...gestures.map(({ file_id: id }) => id)])];
}
