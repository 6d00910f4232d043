export function hashSources(): string;
export function isBuilt(): boolean;
export function isFresh(hash?: string): boolean;
export function ensureInterface(options?: {
  readonly node?: string;
  readonly print?: (line: string) => void;
}): Promise<boolean>;
