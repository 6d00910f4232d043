import { lookup } from "mrmime";
import { extensionOf } from "./names.ts";

const unknown = "application/octet-stream";
const wellFormed = /^[a-z0-9!#$&^_.+-]{1,100}\/[a-z0-9!#$&^_.+-]{1,100}$/;

/** The media type of a file: the client's word where it is well-formed and says something, else by its ending. */
export function toMediaType(sent: string, name: string): string {
  const type = (sent.split(";", 1)[0] ?? "").trim().toLowerCase();
  if (wellFormed.test(type) && type !== unknown) {
    return type;
  }
  return lookup(extensionOf(name)) ?? unknown;
}

/** True for what a browser may show in place: nothing that can run a script or post a form. */
export function isShownInline(type: string): boolean {
  return (
    type === "application/pdf" ||
    type === "text/plain" ||
    (/^(image|audio|video)\//.test(type) && !/svg|xml/.test(type))
  );
}

const textTypes =
  /^(text\/|application\/(json|ld\+json|x-ndjson|jsonl|xml|yaml|x-yaml|toml|sql|graphql|javascript|typescript|x-sh|x-httpd-php|x-python)$|.*\+(json|xml|yaml)$)/;

const textEndings = new Set(
  (
    "txt md markdown mdx rst adoc org tex csv tsv json jsonl ndjson json5 yaml yml toml ini cfg conf env properties log xml html htm " +
    "css scss less js mjs cjs jsx ts mts cts tsx vue svelte py pyi rb php java kt kts scala groovy gradle c h cc cpp cxx hpp hh m mm cs fs vb " +
    "go rs swift dart lua pl pm r jl hs elm clj cljs ex exs erl zig nim sh bash zsh fish ps1 bat cmd sql graphql gql proto tf hcl " +
    "dockerfile makefile cmake diff patch srt vtt"
  ).split(" "),
);
// `.ts` is a video container to the registry of media types and TypeScript to everybody else.
const misread = new Map([
  ["ts", "video/mp2t"],
  ["mts", "video/mp2t"],
]);

/** True for files whose bytes are meant to be read as text. An image that happens to be XML is none. */
export function isText(type: string, name: string): boolean {
  const ending = extensionOf(name) || name.toLowerCase();
  if (/^(image|audio|video|font)\//.test(type)) {
    return misread.get(ending) === type;
  }
  return textTypes.test(type) || textEndings.has(ending);
}
