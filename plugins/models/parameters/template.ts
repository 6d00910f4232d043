/** What the templates of system prompts may name. */
export interface TemplateFacts {
  readonly now: Date;
  /** IANA time zone of the account, or the server's. */
  readonly timeZone: string;
  readonly user: {
    readonly name: string;
    readonly email: string;
    readonly bio?: string | null;
    readonly gender?: string | null;
    /** `YYYY-MM-DD`. */
    readonly birthDate?: string | null;
    readonly location?: string | null;
    readonly groups?: readonly string[];
  };
  /** `variables` of the request: keys with their braces, replaced as literal text. */
  readonly variables: Readonly<Record<string, string>>;
  /** What people filled in for `{{chat.variables.<key>}}` of this chat. */
  readonly chatVariables?: Readonly<Record<string, unknown>> | undefined;
  /** The account's own `{{user.variables.<key>}}`. */
  readonly userVariables?: Readonly<Record<string, string>> | undefined;
}

const unknown = "Unknown";

/** True when `text` may hold a template variable: most prompts do not, and need no facts looked up. */
export function hasVariables(text: string): boolean {
  return text.includes("{{");
}

/**
 * Fills the variables of a system prompt (contract 3.7). What the caller sent wins over what the server knows;
 * values are put in as they are and not read again, so that a value cannot bring in another variable.
 */
export function fillTemplate(text: string, facts: TemplateFacts): string {
  return text.replaceAll(
    /\{\{[^{}]{1,2200}\}\}/g,
    (token) => facts.variables[token] ?? resolve(token.slice(2, -2).trim(), facts) ?? token,
  );
}

function resolve(name: string, facts: TemplateFacts): string | undefined {
  const { now, timeZone, user } = facts;
  const format = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat("en-US", { timeZone, ...options }).format(now);
  switch (name) {
    case "CURRENT_DATE":
      return toDate(now, timeZone);
    case "CURRENT_TIME":
      return format({ hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
    case "CURRENT_DATETIME":
      return `${toDate(now, timeZone)} ${format({ hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false })}`;
    case "CURRENT_WEEKDAY":
      return format({ weekday: "long" });
    case "CURRENT_TIMEZONE":
      return timeZone;
    case "USER_NAME":
      return user.name || unknown;
    case "USER_EMAIL":
      return user.email || unknown;
    case "USER_BIO":
      return user.bio || unknown;
    case "USER_GENDER":
      return user.gender || unknown;
    case "USER_BIRTH_DATE":
      return user.birthDate || unknown;
    case "USER_AGE":
      return user.birthDate ? toAge(user.birthDate, now) : unknown;
    case "USER_LOCATION":
      return user.location || unknown;
    case "USER_GROUPS":
      return user.groups?.join(", ") || unknown;
    default:
      return resolveInput(name, facts);
  }
}

const input = /^(chat|user)\.variables\.([A-Za-z_]\w{0,99})\s*(?:\|(.*))?$/s;

/**
 * What a person filled in; a chat's input that is empty has the default of its declaration (contract 3.7). Names that
 * every object has, such as `constructor`, are no inputs unless somebody filled them in.
 */
function resolveInput(name: string, { chatVariables, userVariables }: TemplateFacts): string | undefined {
  const [, owner, key = "", declared = ""] = input.exec(name) ?? [];
  if (owner === undefined) {
    return undefined;
  }
  const inputs = (owner === "chat" ? chatVariables : userVariables) ?? {};
  const value = Object.hasOwn(inputs, key) ? inputs[key] : undefined;
  if (value === undefined && key in Object.prototype) {
    return undefined;
  }
  if (value !== undefined && value !== null && value !== "") {
    return Array.isArray(value) ? value.map(String).join(", ") : toText(value);
  }
  const [, quoted, plain] = /(?:^|:)\s*default=(?:"([^"]*)"|([^:]*))/.exec(declared) ?? [];
  return quoted ?? plain?.trim() ?? "";
}

function toText(value: unknown): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function toDate(now: Date, timeZone: string): string {
  // The Swedish form is the ISO one.
  return new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short" }).format(now);
}

function toAge(birthDate: string, now: Date): string {
  const born = new Date(`${birthDate}T00:00:00Z`);
  if (Number.isNaN(born.getTime())) {
    return unknown;
  }
  const hadBirthday =
    now.getUTCMonth() > born.getUTCMonth() ||
    (now.getUTCMonth() === born.getUTCMonth() && now.getUTCDate() >= born.getUTCDate());
  return String(now.getUTCFullYear() - born.getUTCFullYear() - (hadBirthday ? 0 : 1));
}
