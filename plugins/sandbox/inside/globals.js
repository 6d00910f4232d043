// Globals that a bare context lacks and authors expect. With console (console.js), timers and queueMicrotask (timers.js) these exist:
//   structuredClone (of JSON values), atob, btoa, TextEncoder, TextDecoder (UTF-8), URL, URLSearchParams,
//   crypto.randomUUID, crypto.getRandomValues, crypto.subtle.digest (SHA-1, SHA-256, SHA-384, SHA-512).
// There is no network, no file, no process, no import, no WebAssembly, no shared memory: what reaches outside goes
// through the `host` of a call. `lookup(what, ...texts)` asks the host for pure facts: an address taken apart, random
// bytes, a digest; it answers a text or undefined.
import { lookup } from "./environment.js";

{
  const [bytes, clone, toText, now] = [Uint8Array, JSON.parse, JSON.stringify, Date.now];
  // The host answers on its event loop: so many questions and characters a second.
  const [mostAsked, mostCharacters] = [5000, 2 ** 23];
  let since = 0;
  let asked = 0;
  let characters = 0;
  const ask = (what, first, second, third) => {
    const at = now();
    if (at - since >= 1000) {
      since = at;
      asked = characters = 0;
    }
    characters += (first?.length ?? 0) + (second?.length ?? 0) + (third?.length ?? 0);
    if (++asked > mostAsked || characters > mostCharacters) {
      throw new RangeError(
        `The host answers ${mostAsked} questions of ${mostCharacters} characters a second.`,
      );
    }
    const answer = lookup(what, first, second, third);
    characters += answer?.length ?? 0;
    return answer;
  };
  const define = (values) => {
    for (const name of Object.keys(values)) {
      const value = values[name];
      Object.defineProperty(globalThis, name, {
        value,
        writable: true,
        configurable: true,
        enumerable: false,
      });
    }
  };
  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

  function btoa(value) {
    const text = String(value);
    let out = "";
    for (let at = 0; at < text.length; at += 3) {
      const [a, b, c] = [text.charCodeAt(at), text.charCodeAt(at + 1), text.charCodeAt(at + 2)];
      if (a > 255 || b > 255 || c > 255) {
        throw new RangeError("btoa takes characters up to U+00FF.");
      }
      out += digits[a >> 2] + digits[((a & 3) << 4) | (b >> 4)];
      out += at + 1 < text.length ? digits[((b & 15) << 2) | (c >> 6)] : "=";
      out += at + 2 < text.length ? digits[c & 63] : "=";
    }
    return out;
  }

  function atob(value) {
    const text = String(value)
      .replace(/[\t\n\f\r ]+/g, "")
      .replace(/={1,2}$/, "");
    let [out, held, bits] = ["", 0, 0];
    for (let at = 0; at < text.length; at++) {
      const digit = digits.indexOf(text[at]);
      if (digit < 0 || text.length % 4 === 1) {
        throw new RangeError("atob takes base64.");
      }
      held = ((held << 6) | digit) & 0xffffff;
      bits += 6;
      if (bits >= 8) {
        bits -= 8;
        out += String.fromCharCode((held >> bits) & 255);
      }
    }
    return out;
  }

  class TextEncoder {
    encoding = "utf-8";
    encode(value = "") {
      const text = String(value).toWellFormed();
      const out = new bytes(text.length * 3);
      let to = 0;
      for (const letter of text) {
        const code = letter.codePointAt(0);
        if (code < 0x80) {
          out[to++] = code;
          continue;
        }
        const more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
        out[to++] = [0, 0xc0, 0xe0, 0xf0][more] | (code >> (6 * more));
        for (let left = more - 1; left >= 0; left--) {
          out[to++] = 0x80 | ((code >> (6 * left)) & 63);
        }
      }
      return out.slice(0, to);
    }
  }

  class TextDecoder {
    encoding = "utf-8";
    constructor(label = "utf-8") {
      if (!/^utf-?8$/i.test(label)) {
        throw new RangeError("TextDecoder knows utf-8 only.");
      }
    }
    decode(source = new bytes(0)) {
      const view = ArrayBuffer.isView(source)
        ? new bytes(source.buffer, source.byteOffset, source.byteLength)
        : new bytes(source);
      let out = "";
      for (let at = 0; at < view.length;) {
        const head = view[at++];
        let more = head < 0x80 ? 0 : head >= 0xf0 && head < 0xf5 ? 3 : head >= 0xe0 && head < 0xf0 ? 2 : 1;
        let code = head < 0x80 ? head : head >= 0xc2 && head < 0xf5 ? head & (0x3f >> more) : -1;
        const least = [0, 0x80, 0x800, 0x10000][more];
        for (; code >= 0 && more > 0; more--) {
          code = (view[at] & 0xc0) === 0x80 ? (code << 6) | (view[at++] & 63) : -1;
        }
        const isGood = code >= least && code < 0x110000 && (code < 0xd800 || code > 0xdfff);
        out += isGood || head < 0x80 ? String.fromCodePoint(code) : "\ufffd";
      }
      return out.startsWith("\ufeff") ? out.slice(1) : out;
    }
  }

  class URLSearchParams {
    #pairs = [];
    #changed;
    constructor(from = "", changed = () => {}) {
      this.#changed = changed;
      if (typeof from === "string") {
        this.#pairs = clone(ask("query", from) ?? "[]");
      } else {
        const pairs = typeof from[Symbol.iterator] === "function" ? [...from] : Object.entries(from);
        this.#pairs = pairs.map(([name, value]) => [String(name), String(value)]);
      }
    }
    get size() {
      return this.#pairs.length;
    }
    get(name) {
      return this.#pairs.find(([key]) => key === String(name))?.[1] ?? null;
    }
    getAll(name) {
      return this.#pairs.filter(([key]) => key === String(name)).map(([, value]) => value);
    }
    has(name) {
      return this.#pairs.some(([key]) => key === String(name));
    }
    append(name, value) {
      this.#pairs.push([String(name), String(value)]);
      this.#changed(this);
    }
    set(name, value) {
      const at = this.#pairs.findIndex(([key]) => key === String(name));
      const pair = [String(name), String(value)];
      const others = this.#pairs.filter(([key], place) => key !== pair[0] || place === at);
      this.#pairs = at < 0 ? [...others, pair] : others.map((each) => (each[0] === pair[0] ? pair : each));
      this.#changed(this);
    }
    delete(name) {
      this.#pairs = this.#pairs.filter(([key]) => key !== String(name));
      this.#changed(this);
    }
    sort() {
      this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
      this.#changed(this);
    }
    forEach(run) {
      this.#pairs.forEach(([name, value]) => run(value, name, this));
    }
    *entries() {
      yield* this.#pairs.map((pair) => [...pair]);
    }
    *keys() {
      yield* this.#pairs.map(([name]) => name);
    }
    *values() {
      yield* this.#pairs.map(([, value]) => value);
    }
    [Symbol.iterator]() {
      return this.entries();
    }
    toString() {
      return ask("toQuery", toText(this.#pairs)) ?? "";
    }
  }

  class URL {
    #parts;
    #search;
    constructor(address, base) {
      const parts = ask("address", String(address), base === undefined ? undefined : String(base));
      if (parts === undefined) {
        throw new TypeError(`Invalid URL: ${String(address).slice(0, 200)}`);
      }
      this.#parts = clone(parts);
    }
    static canParse(address, base) {
      return ask("address", String(address), base === undefined ? undefined : String(base)) !== undefined;
    }
    static parse(address, base) {
      return URL.canParse(address, base) ? new URL(address, base) : null;
    }
    get searchParams() {
      this.#search ??= new URLSearchParams(this.#parts.search, (changed) => this.#set("search", changed));
      return this.#search;
    }
    #set(name, value) {
      this.#parts = clone(ask("change", this.#parts.href, name, String(value)) ?? toText(this.#parts));
    }
    toString() {
      return this.#parts.href;
    }
    toJSON() {
      return this.#parts.href;
    }
    static {
      const names = [
        "href",
        "protocol",
        "username",
        "password",
        "host",
        "hostname",
        "port",
        "pathname",
        "search",
        "hash",
      ];
      for (const name of [...names, "origin"]) {
        Object.defineProperty(URL.prototype, name, {
          configurable: true,
          enumerable: true,
          get() {
            return this.#parts[name];
          },
          set(value) {
            if (name !== "origin") {
              this.#set(name, value);
              this.#search = undefined;
            }
          },
        });
      }
    }
  }

  const fromBase64 = (text) => bytes.from(atob(text), (letter) => letter.charCodeAt(0));
  const viewOf = (data) =>
    ArrayBuffer.isView(data) ? new bytes(data.buffer, data.byteOffset, data.byteLength) : new bytes(data);
  const crypto = {
    randomUUID: () => ask("uuid"),
    getRandomValues(target) {
      const view = viewOf(target);
      if (view.length > 65_536) {
        throw new RangeError("getRandomValues fills up to 65536 bytes.");
      }
      view.set(fromBase64(ask("random", String(view.length))));
      return target;
    },
    subtle: {
      async digest(algorithm, data) {
        const letters = Array.from(viewOf(data), (byte) => String.fromCharCode(byte)).join("");
        const digest = ask("digest", String(algorithm?.name ?? algorithm), btoa(letters));
        if (digest === undefined) {
          throw new TypeError("digest knows SHA-1, SHA-256, SHA-384 and SHA-512, of up to 700 KB.");
        }
        return fromBase64(digest).buffer;
      },
    },
  };
  const structuredClone = (value) => (value === undefined ? undefined : clone(toText(value)));
  define({ structuredClone, atob, btoa, TextEncoder, TextDecoder, URL, URLSearchParams, crypto });
}
