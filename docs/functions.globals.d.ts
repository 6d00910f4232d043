// What an isolate has besides the JavaScript language itself. There is nothing else: no fetch, no process, no import.

/** Lines are kept for administrators, the last 200 of a function. */
declare var console: {
  debug(...values: unknown[]): void;
  log(...values: unknown[]): void;
  info(...values: unknown[]): void;
  warn(...values: unknown[]): void;
  error(...values: unknown[]): void;
  trace(...values: unknown[]): void;
  dir(...values: unknown[]): void;
};

/** Timers belong to the call that sets them and end with it. */
declare function setTimeout<A extends unknown[]>(run: (...args: A) => void, ms?: number, ...args: A): number;
declare function setInterval<A extends unknown[]>(run: (...args: A) => void, ms?: number, ...args: A): number;
declare function clearTimeout(timer: number | undefined): void;
declare function clearInterval(timer: number | undefined): void;
declare function queueMicrotask(run: () => void): void;

/** Of JSON values. */
declare function structuredClone<T>(value: T): T;
declare function atob(text: string): string;
declare function btoa(text: string): string;

declare class TextEncoder {
  readonly encoding: "utf-8";
  encode(text?: string): Uint8Array<ArrayBuffer>;
}

/** UTF-8 alone. */
declare class TextDecoder {
  readonly encoding: "utf-8";
  decode(bytes?: ArrayBuffer | ArrayBufferView): string;
}

declare class URL {
  constructor(url: string | URL, base?: string | URL);
  static canParse(url: string | URL, base?: string | URL): boolean;
  static parse(url: string | URL, base?: string | URL): URL | null;
  href: string;
  readonly origin: string;
  protocol: string;
  username: string;
  password: string;
  host: string;
  hostname: string;
  port: string;
  pathname: string;
  search: string;
  hash: string;
  readonly searchParams: URLSearchParams;
  toString(): string;
  toJSON(): string;
}

declare class URLSearchParams {
  constructor(init?: string | Iterable<readonly [string, string]> | Record<string, string> | URLSearchParams);
  readonly size: number;
  append(name: string, value: string): void;
  delete(name: string, value?: string): void;
  get(name: string): string | null;
  getAll(name: string): string[];
  has(name: string, value?: string): boolean;
  set(name: string, value: string): void;
  sort(): void;
  forEach(run: (value: string, name: string, params: URLSearchParams) => void): void;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  entries(): IterableIterator<[string, string]>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
  toString(): string;
}

declare var crypto: {
  randomUUID(): string;
  /** Fills up to 65536 bytes. */
  getRandomValues<T extends ArrayBufferView>(target: T): T;
  readonly subtle: {
    /** SHA-1, SHA-256, SHA-384 or SHA-512 of up to 700 KB. */
    digest(algorithm: string | { name: string }, data: ArrayBuffer | ArrayBufferView): Promise<ArrayBuffer>;
  };
};
