import type { ToolFile } from "#kernel/tools/output.ts";
import { cut, maxText, type RunResult } from "../run-result.ts";
import type { KernelMessage } from "./messages.ts";

/** Gathers what a kernel tells of one run. */
export interface Collector {
  add(message: KernelMessage): void;
  /** True once more came than is kept: the run is not worth going on. */
  readonly isFull: boolean;
  result(status: RunResult["status"], note?: string): RunResult;
}

type Bag = Readonly<Record<string, unknown>>;

const maxPictures = 20;
const maxPictureBytes = 20 * 1024 * 1024;
const maxHtml = 500_000;
/** Characters that a run may print before it is stopped. */
const mostPrinted = 20_000_000;

const endings: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
};

/** Creates a collector for one run. */
export function createCollector(): Collector {
  const texts = { stdout: "", stderr: "" };
  let printed = 0;
  let pictureBytes = 0;
  let results: string[] = [];
  let files: ToolFile[] = [];
  let html: string[] = [];
  let failed = false;

  function print(name: keyof typeof texts, text: string): void {
    printed += text.length;
    if (texts[name].length <= maxText) {
      texts[name] += text.slice(0, maxText + 1);
    }
  }

  function show(data: Bag, isResult: boolean): void {
    const type = Object.keys(endings).find((one) => typeof data[one] === "string");
    const text = toText(data["text/markdown"] ?? data["text/plain"]);
    if (type !== undefined) {
      addPicture(type, Buffer.from(String(data[type]), "base64"));
    } else if (typeof data["image/svg+xml"] === "string") {
      addHtml(String(data["image/svg+xml"]));
    } else if (data["text/html"] !== undefined) {
      addHtml(toText(data["text/html"]));
    }
    if (isResult || type === undefined) {
      printed += text.length;
      results.push(cut(text));
    }
  }

  function addPicture(contentType: string, bytes: Buffer): void {
    pictureBytes += bytes.length;
    if (files.length < maxPictures && pictureBytes <= maxPictureBytes) {
      files.push({ name: `picture-${files.length + 1}.${endings[contentType]}`, contentType, bytes });
    }
  }

  function addHtml(text: string): void {
    printed += text.length;
    if (text.length <= maxHtml && html.length < maxPictures) {
      html.push(text);
    }
  }

  return {
    get isFull() {
      return printed > mostPrinted || pictureBytes > 4 * maxPictureBytes;
    },
    add({ type, content }) {
      switch (type) {
        case "stream":
          print(content["name"] === "stderr" ? "stderr" : "stdout", toText(content["text"]));
          break;
        case "execute_result":
        case "display_data":
          show((content["data"] ?? {}) as Bag, type === "execute_result");
          break;
        case "clear_output":
          [results, files, html, pictureBytes] = [[], [], [], 0];
          texts.stdout = "";
          break;
        case "error":
          failed = true;
          print("stderr", toTraceback(content));
          break;
      }
    },
    result(status, note) {
      if (note !== undefined) {
        texts.stderr += `${texts.stderr === "" || texts.stderr.endsWith("\n") ? "" : "\n"}${note}\n`;
      }
      return {
        status: status === "success" && failed ? "error" : status,
        stdout: cut(texts.stdout),
        stderr: cut(texts.stderr),
        result: cut(results.join("\n")),
        files,
        html,
      };
    },
  };
}

/** Texts of notebooks may be lists of lines. */
function toText(value: unknown): string {
  return Array.isArray(value) ? value.map(String).join("") : typeof value === "string" ? value : "";
}

function toTraceback({ traceback, ename, evalue }: Bag): string {
  const lines = Array.isArray(traceback) ? traceback.map(String) : [];
  const text = lines.length > 0 ? lines.join("\n") : `${toText(ename)}: ${toText(evalue)}`;
  // Colours of a terminal.
  // oxlint-disable-next-line no-control-regex -- they begin with the escape character
  return `${text.replaceAll(/\u001B\[[0-9;]*m/g, "")}\n`;
}
