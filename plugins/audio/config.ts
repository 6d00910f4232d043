import { z } from "zod";
import { grouped, int, json, list, oneOf, text, type Values } from "#config/variable.ts";

const spoken = (name: string) => ({ key: `audio.tts.${name}`, persisted: true }) as const;
const heard = (name: string) => ({ key: `audio.stt.${name}`, persisted: true }) as const;

const address = (value: string) =>
  value === "" || /^https?:$/.test(URL.parse(value)?.protocol ?? "")
    ? undefined
    : "must be an http or https address";

const bag = z.record(z.string(), z.unknown());

export const speechVariables = grouped("Speech", {
  ttsEngine: text("AUDIO_TTS_ENGINE", "", {
    ...spoken("engine"),
    text: "The engine that reads texts aloud: openai, or one that a plugin brings; empty for the browser's own voices",
  }),
  ttsModel: text("AUDIO_TTS_MODEL", "tts-1", {
    ...spoken("model"),
    text: "The model of that engine; empty for the engine's own choice",
  }),
  ttsVoice: text("AUDIO_TTS_VOICE", "alloy", {
    ...spoken("voice"),
    text: "The voice that speaks where nobody asks for another one",
  }),
  ttsSplitOn: oneOf("AUDIO_TTS_SPLIT_ON", ["punctuation", "paragraphs", "none"], "punctuation", {
    ...spoken("split_on"),
    text: "Where texts are cut, so that the first piece is heard while the next ones are spoken: punctuation, paragraphs or none",
  }),
  ttsOpenaiUrl: text("AUDIO_TTS_OPENAI_API_BASE_URL", "https://api.openai.com/v1", {
    ...spoken("openai.api_base_url"),
    check: address,
    text: "Address of an API with /audio/speech in the common format",
  }),
  ttsOpenaiKey: text("AUDIO_TTS_OPENAI_API_KEY", "", {
    ...spoken("openai.api_key"),
    secret: true,
    text: "Key of that API",
  }),
  ttsOpenaiParams: json(
    "AUDIO_TTS_OPENAI_PARAMS",
    {},
    {
      ...spoken("openai.params"),
      schema: bag,
      text: 'Further fields of each request to that API, such as {"speed": 1.1}',
    },
  ),
  ttsMaxCharacters: int("AUDIO_TTS_MAX_CHARACTERS", 20_000, {
    ...spoken("max_characters"),
    min: 1,
    max: 1_000_000,
    text: "Most characters of one text that is read aloud",
  }),
  ttsTimeout: int("AUDIO_TTS_TIMEOUT_SECONDS", 60, {
    ...spoken("timeout"),
    min: 1,
    max: 3600,
    text: "Seconds that an engine has to speak one piece of a text",
  }),
});

export const transcriptionVariables = grouped("Transcription", {
  sttEngine: text("AUDIO_STT_ENGINE", "", {
    ...heard("engine"),
    text: "The engine that writes recordings down: openai, web for the browser's own, or one that a plugin brings; empty stands for a local Whisper, which is not built in: run one behind an OpenAI-shaped server",
  }),
  sttModel: text("AUDIO_STT_MODEL", "", {
    ...heard("model"),
    text: "The model of that engine; empty for the engine's own choice",
  }),
  sttLanguage: text("WHISPER_LANGUAGE", "", {
    ...heard("language"),
    text: "Language of recordings where nobody names one, such as de; empty lets the engine find out",
  }),
  sttTypes: list("AUDIO_STT_SUPPORTED_CONTENT_TYPES", [], {
    ...heard("supported_content_types"),
    text: "Media types of recordings that are taken, such as audio/*; empty for all that can be read",
  }),
  sttEndings: list("AUDIO_STT_ALLOWED_EXTENSIONS", [], {
    ...heard("allowed_extensions"),
    text: "Endings of the names of recordings that are taken, such as mp3; empty for all",
  }),
  sttOpenaiUrl: text("AUDIO_STT_OPENAI_API_BASE_URL", "https://api.openai.com/v1", {
    ...heard("openai.api_base_url"),
    check: address,
    text: "Address of an API with /audio/transcriptions in the common format, also of a Whisper server of your own",
  }),
  sttOpenaiKey: text("AUDIO_STT_OPENAI_API_KEY", "", {
    ...heard("openai.api_key"),
    secret: true,
    text: "Key of that API",
  }),
  sttMaxSize: int("AUDIO_STT_MAX_SIZE", 500, {
    ...heard("max_size"),
    min: 1,
    max: 10_000,
    text: "Megabytes of a recording at most",
  }),
  sttTimeout: int("AUDIO_STT_TIMEOUT_SECONDS", 300, {
    ...heard("timeout"),
    min: 1,
    max: 3600,
    text: "Seconds that an engine has for one piece of a recording",
  }),
});

export const audioVariables = { ...speechVariables, ...transcriptionVariables };
export type AudioSettings = Values<typeof audioVariables>;
