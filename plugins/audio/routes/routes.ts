import { Readable } from "node:stream";
import type { Events } from "#kernel/events.ts";
import { defineRoute, relay } from "#kernel/http/route.ts";
import type { Speech } from "../speech/speech.ts";
import type { StoredRecording } from "../transcription/stored-recording.ts";
import type { Transcriber } from "../transcription/transcription.ts";
import { below, type Prefix } from "./prefix.ts";
import { AudioModels, AudioVoices, SpeechForm, TranscriptionAnswer } from "./schema.ts";

export interface AudioRouteParts {
  readonly speech: Speech;
  readonly transcriber: Transcriber;
  readonly events: Pick<Events, "announce">;
}

const fails = [400, 403, 404, 413, 429, 502, 503, 504];

/** Speech and transcription for people and programs (contract §10). */
export function audioRoutes(prefix: Prefix, parts: AudioRouteParts) {
  return [speechRoute(prefix, parts), transcriptionRoute(prefix, parts), ...listRoutes(prefix, parts)];
}

function speechRoute(prefix: Prefix, { speech }: AudioRouteParts) {
  return defineRoute(
    {
      method: "POST",
      path: below(prefix, "/speech"),
      summary: "Read a text aloud; the sound comes piece by piece",
      access: "permission:chat.tts",
      body: SpeechForm,
      produces: "audio/mpeg",
      fails,
    },
    async ({ body, caller, request }) => {
      const { type, bytes } = await speech.speak(caller, body, request.signal);
      // A sound that breaks off midway ends as a broken answer: no words may stand between its frames.
      const headers = { "content-type": type, "cache-control": "private, no-store" };
      return relay({ status: 200, headers, body: Readable.from(bytes, { objectMode: false }) }, { headers });
    },
  );
}

function transcriptionRoute(prefix: Prefix, { transcriber, events }: AudioRouteParts) {
  return defineRoute(
    {
      method: "POST",
      path: below(prefix, "/transcriptions"),
      summary: "Write a recording down: a form with file and, if known, its language",
      access: "permission:chat.stt",
      upload: true,
      returns: TranscriptionAnswer,
      fails,
    },
    async ({ upload, caller, request: { signal } }) => {
      let stored: StoredRecording | undefined;
      try {
        const limits = { maxBytes: transcriber.maxBytes() };
        const { result: file, fields } = await upload.receive("file", limits, async (given) => {
          // Before its bytes come, which may take long, and behind the checks of the form.
          const engine = transcriber.requireEngine();
          stored = await transcriber.store(given.stream, signal);
          return { ...given, engine, stored };
        });
        const { userId, name, email, role } = caller;
        events.announce("audio.transcription_requested", {
          actor: { id: userId, name, email, role },
          subject: null,
          data: { engine: file.engine.id, bytes: file.stored.size },
        });
        const { filename, contentType } = file;
        const call = { filename, contentType, language: fields["language"], userId, signal };
        return { text: await transcriber.transcribe(file.stored, call), filename };
      } finally {
        await stored?.remove();
      }
    },
  );
}

function listRoutes(prefix: Prefix, { speech }: AudioRouteParts) {
  const ready = () => {
    const engine = speech.current();
    return engine !== undefined && engine.missing().length === 0 ? engine : undefined;
  };
  return [
    defineRoute(
      {
        method: "GET",
        path: below(prefix, "/models"),
        summary: "List the models of the engine that reads aloud; none while browsers do",
        access: "user",
        returns: AudioModels,
        fails: [429, 502, 503, 504],
      },
      async ({ request }) => ({ models: toList(await ready()?.models(request.signal)) }),
    ),
    defineRoute(
      {
        method: "GET",
        path: below(prefix, "/voices"),
        summary: "List the voices of the engine that reads aloud; none while browsers do",
        access: "user",
        returns: AudioVoices,
        fails: [429, 502, 503, 504],
      },
      async ({ request }) => ({ voices: toList(await ready()?.voices(request.signal)) }),
    ),
  ];
}

const toList = (found: readonly { readonly id: string; readonly name: string }[] = []) =>
  found.slice(0, 2_000).map(({ id, name }) => ({ id, name }));
