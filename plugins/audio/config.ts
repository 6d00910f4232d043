import { z } from "zod";
import { checkAddress } from "#config/parse.ts";
import { bool, grouped, int, json, list, oneOf, text, type Values } from "#config/variable.ts";

const spoken = (name: string) => ({ key: `audio.tts.${name}`, persisted: true }) as const;
const heard = (name: string) => ({ key: `audio.stt.${name}`, persisted: true }) as const;

/** Regions stand in names of hosts. */
const region = (value: string) =>
  /^[a-z0-9-]*$/i.test(value) ? undefined : "must be the name of a region, such as westeurope";

const bag = z.record(z.string(), z.unknown());

export const speechVariables = grouped("Speech", {
  ttsEngine: text("AUDIO_TTS_ENGINE", "", {
    ...spoken("engine"),
    text: "The engine that reads texts aloud: openai, elevenlabs, azure, mistral, or one that a plugin brings; empty for the browser's own voices",
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
    check: checkAddress,
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
  ttsKey: text("AUDIO_TTS_API_KEY", "", {
    ...spoken("api_key"),
    secret: true,
    text: "Key of ElevenLabs or of Azure Speech, whichever reads aloud",
  }),
  ttsElevenUrl: text("ELEVENLABS_API_BASE_URL", "https://api.elevenlabs.io", {
    ...spoken("elevenlabs.api_base_url"),
    check: checkAddress,
    text: "Address of the ElevenLabs API",
  }),
  ttsAzureRegion: text("AUDIO_TTS_AZURE_SPEECH_REGION", "", {
    ...spoken("azure.speech_region"),
    check: region,
    text: "Region of the Azure Speech resource that reads aloud, such as westeurope",
  }),
  ttsAzureUrl: text("AUDIO_TTS_AZURE_SPEECH_BASE_URL", "", {
    ...spoken("azure.speech_base_url"),
    check: checkAddress,
    text: "Address of Azure Speech for reading aloud; empty for that of the region",
  }),
  ttsAzureFormat: text("AUDIO_TTS_AZURE_SPEECH_OUTPUT_FORMAT", "audio-24khz-160kbitrate-mono-mp3", {
    ...spoken("azure.speech_output_format"),
    text: "Format of the sound of Azure Speech; texts are cut into pieces in formats that end in mp3 alone",
  }),
  ttsMistralUrl: text("AUDIO_TTS_MISTRAL_API_BASE_URL", "https://api.mistral.ai/v1", {
    ...spoken("mistral.api_base_url"),
    check: checkAddress,
    text: "Address of the Mistral API for reading aloud",
  }),
  ttsMistralKey: text("AUDIO_TTS_MISTRAL_API_KEY", "", {
    ...spoken("mistral.api_key"),
    secret: true,
    text: "Key of that Mistral API",
  }),
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
    text: "The engine that writes recordings down: openai, deepgram, azure, mistral, web for the browser's own, or one that a plugin brings; empty stands for a local Whisper, which is not built in: run one behind an OpenAI-shaped server",
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
    check: checkAddress,
    text: "Address of an API with /audio/transcriptions in the common format, also of a Whisper server of your own",
  }),
  sttOpenaiKey: text("AUDIO_STT_OPENAI_API_KEY", "", {
    ...heard("openai.api_key"),
    secret: true,
    text: "Key of that API",
  }),
  sttDeepgramKey: text("DEEPGRAM_API_KEY", "", {
    ...heard("deepgram.api_key"),
    secret: true,
    text: "Key of Deepgram",
  }),
  sttDeepgramUrl: text("DEEPGRAM_API_BASE_URL", "https://api.deepgram.com", {
    ...heard("deepgram.api_base_url"),
    check: checkAddress,
    text: "Address of the Deepgram API",
  }),
  sttAzureKey: text("AUDIO_STT_AZURE_API_KEY", "", {
    ...heard("azure.api_key"),
    secret: true,
    text: "Key of the Azure Speech resource that writes recordings down",
  }),
  sttAzureRegion: text("AUDIO_STT_AZURE_REGION", "", {
    ...heard("azure.region"),
    check: region,
    text: "Region of the Azure Speech resource that writes recordings down, such as westeurope",
  }),
  sttAzureUrl: text("AUDIO_STT_AZURE_BASE_URL", "", {
    ...heard("azure.base_url"),
    check: checkAddress,
    text: "Address of Azure Speech for recordings; empty for that of the region",
  }),
  sttAzureLocales: list("AUDIO_STT_AZURE_LOCALES", [], {
    ...heard("azure.locales"),
    text: "Locales among which Azure Speech looks for the language, such as en-US,de-DE; empty for all it knows",
  }),
  sttAzureSpeakers: int("AUDIO_STT_AZURE_MAX_SPEAKERS", null, {
    ...heard("azure.max_speakers"),
    min: 1,
    max: 35,
    text: "Most speakers whom Azure Speech tells apart, each with lines of their own; not set, it tells none apart",
  }),
  sttMistralUrl: text("AUDIO_STT_MISTRAL_API_BASE_URL", "https://api.mistral.ai/v1", {
    ...heard("mistral.api_base_url"),
    check: checkAddress,
    text: "Address of the Mistral API for recordings",
  }),
  sttMistralKey: text("AUDIO_STT_MISTRAL_API_KEY", "", {
    ...heard("mistral.api_key"),
    secret: true,
    text: "Key of that Mistral API for recordings",
  }),
  sttMistralChat: bool("AUDIO_STT_MISTRAL_USE_CHAT_COMPLETIONS", false, {
    ...heard("mistral.use_chat_completions"),
    text: "Lets a chat model of Mistral hear recordings, in place of its transcription",
  }),
  whisperModel: text("WHISPER_MODEL", "base", {
    ...heard("whisper_model"),
    text: "Model of the local Whisper",
    noEffect: "no Whisper is built in; AUDIO_STT_MODEL names the model of the server that runs one",
  }),
  sttMaxMinutes: int("AUDIO_STT_MAX_MINUTES", 120, {
    ...heard("max_minutes"),
    min: 1,
    max: 1_440,
    text: "Minutes of a recording at most, where its length can be found out",
  }),
  decoder: text("AUDIO_FFMPEG_PATH", "ffmpeg", {
    whenEmpty: "",
    text: "The ffmpeg program, which cuts and converts recordings that an engine does not take as they are; empty for none",
  }),
  sttMaxSize: int("AUDIO_STT_MAX_SIZE", 500, {
    ...heard("max_size"),
    min: 1,
    max: 10_000,
    text: "Megabytes of a recording at most",
  }),
  sttConcurrent: int("AUDIO_STT_CONCURRENT_REQUESTS", 6, {
    ...heard("concurrent_requests"),
    min: 0,
    max: 1000,
    text: "Pieces of recordings that engines get at once, on each replica, those of one person in turns with those of others; 0 is unlimited",
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
