import { readFile } from "node:fs/promises";
import { Client, type Entry, Filter, FilterParser, InvalidCredentialsError, ResultCodeError } from "ldapts";
import { AppError } from "#kernel/errors.ts";
import type { LdapSettings } from "./config.ts";

/** A person as the directory knows them. */
export interface DirectoryPerson {
  readonly dn: string;
  readonly email: string;
  readonly name: string;
  /** First common names of their groups; undefined where groups are not asked for. */
  readonly groups: readonly string[] | undefined;
}

/** One step of a sign-in, for people who look for what is wrong with it. */
export interface Step {
  readonly step: "connect" | "search" | "password";
  readonly ok: boolean;
  readonly detail: string;
  readonly ms: number;
}

export type LookUp =
  | { readonly kind: "known"; readonly person: DirectoryPerson }
  | { readonly kind: "refused" }
  /** The directory was not reached, or is not set up rightly: `reason` is for administrators. */
  | { readonly kind: "failed"; readonly reason: string };

/** Rejected passwords are one answer with unknown names; `onStep` hears what was tried. */
export interface Directory {
  check(credentials: { user: string; password: string }, onStep?: (step: Step) => void): Promise<LookUp>;
}

/** Creates the sign-in at a directory: bind as the application, search, bind as the person (appendix A6, LDAP). */
export function createDirectory(settings: () => LdapSettings): Directory {
  return {
    async check({ user, password }, onStep = () => undefined) {
      const now = settings();
      const name = user.trim();
      // A directory takes a bind without a password as one by nobody, and says yes (promise S89).
      if (name === "" || password.trim() === "") {
        return { kind: "refused" };
      }
      let opened: Opened | undefined;
      try {
        opened = await open(now, onStep);
        const entry = await search(opened, { settings: now, name, onStep });
        return await prove(opened, { entry, settings: now, password, onStep });
      } catch (error) {
        return { kind: "failed", reason: toReason(error) };
      } finally {
        await opened?.client.unbind().catch(() => undefined);
      }
    },
  };
}

interface Opened {
  readonly client: Client;
  readonly host: string;
}

/** The first host that answers and lets the application in; a wrong password of the application's is the same on all. */
async function open(settings: LdapSettings, onStep: (step: Step) => void): Promise<Opened> {
  const failures: string[] = [];
  for (const host of settings.hosts) {
    const started = performance.now();
    const took = () => Math.round(performance.now() - started);
    const client = await createClient(settings, host);
    try {
      if (settings.useTls && startsTls(settings)) {
        await client.startTLS(await tlsOptions(settings, host));
      }
      await client.bind(settings.appDn, settings.appPassword);
      onStep({ step: "connect", ok: true, detail: `${host}:${settings.port}`, ms: took() });
      return { client, host };
    } catch (error) {
      await client.unbind().catch(() => undefined);
      const reason = `${host}:${settings.port}: ${toReason(error)}`;
      onStep({ step: "connect", ok: false, detail: reason, ms: took() });
      failures.push(reason);
    }
  }
  throw new AppError("unavailable", failures.join("; ") || "No host of a directory is set.");
}

async function createClient(settings: LdapSettings, host: string): Promise<Client> {
  const isSecure = settings.useTls && !startsTls(settings);
  const name = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
  return new Client({
    url: `${isSecure ? "ldaps" : "ldap"}://${name}:${settings.port}`,
    connectTimeout: settings.timeout * 1000,
    timeout: settings.timeout * 1000,
    strictDN: false,
    ...(isSecure && { tlsOptions: await tlsOptions(settings, host) }),
  });
}

/** Ports 389 and 3268 speak plainly at first. */
function startsTls({ tlsMethod, port }: LdapSettings): boolean {
  return tlsMethod === "starttls" || (tlsMethod === "automatic" && (port === 389 || port === 3268));
}

async function tlsOptions({ caFile, validateCert, ciphers }: LdapSettings, host: string) {
  return {
    rejectUnauthorized: validateCert,
    servername: host,
    ...(caFile !== "" && { ca: await readFile(caFile) }),
    ...(ciphers !== "" && ciphers !== "ALL" && { ciphers }),
  };
}

interface Search {
  readonly settings: LdapSettings;
  readonly name: string;
  readonly onStep: (step: Step) => void;
}

/** The one entry of that name; undefined for none, and for several: nobody may sign in as somebody of the same name. */
async function search({ client }: Opened, { settings, name, onStep }: Search): Promise<Entry | undefined> {
  const started = performance.now();
  const { usernameAttribute, mailAttribute, groupsAttribute, searchFilters, searchBase } = settings;
  const filter = `(&(${usernameAttribute}=${Filter.escape(name)})${searchFilters.trim()})`;
  // Parsed here, so that a filter that is none is blamed before anything is sent.
  FilterParser.parseString(filter);
  const { searchEntries } = await client.search(searchBase, {
    scope: "sub",
    filter,
    sizeLimit: 2,
    attributes: ["cn", "displayName", usernameAttribute, mailAttribute, groupsAttribute],
  });
  const [found, second] = searchEntries;
  const entry = second === undefined ? found : undefined;
  onStep({
    step: "search",
    ok: entry !== undefined,
    detail: second ? `More than one entry answers ${filter}.` : (found?.dn ?? `No entry answers ${filter}.`),
    ms: Math.round(performance.now() - started),
  });
  return entry;
}

interface Proof {
  readonly entry: Entry | undefined;
  readonly settings: LdapSettings;
  readonly password: string;
  readonly onStep: (step: Step) => void;
}

/** Asks the directory whether the password is right, of an unknown person too: the time taken tells nothing. */
async function prove({ client }: Opened, { entry, settings, password, onStep }: Proof): Promise<LookUp> {
  const started = performance.now();
  const told = (ok: boolean, detail: string) =>
    onStep({ step: "password", ok, detail, ms: Math.round(performance.now() - started) });
  try {
    await client.bind(entry?.dn ?? `cn=${crypto.randomUUID()},${settings.searchBase}`, password);
  } catch (error) {
    if (
      error instanceof InvalidCredentialsError ||
      (entry === undefined && error instanceof ResultCodeError)
    ) {
      told(
        false,
        entry === undefined ? "There is nobody to check a password of." : "The password is not right.",
      );
      return { kind: "refused" };
    }
    throw error;
  }
  if (entry === undefined) {
    return { kind: "refused" };
  }
  told(true, "The password is right.");
  const email = firstOf(entry[settings.mailAttribute])?.toLowerCase();
  if (email === undefined) {
    throw new AppError("invalid", `${entry.dn} has no ${settings.mailAttribute}.`);
  }
  return {
    kind: "known",
    person: {
      dn: entry.dn,
      email,
      name: firstOf(entry["displayName"]) ?? firstOf(entry["cn"]) ?? email,
      groups: settings.manageGroups
        ? valuesOf(entry[settings.groupsAttribute]).flatMap((dn) => toCommonName(dn) ?? [])
        : undefined,
    },
  };
}

function valuesOf(value: Entry[string] | undefined): string[] {
  const values = Array.isArray(value) ? value : value === undefined ? [] : [value];
  return values
    .map((each) => (typeof each === "string" ? each : each.toString("utf8")).trim())
    .filter(Boolean);
}

const firstOf = (value: Entry[string] | undefined): string | undefined => valuesOf(value)[0];

/** The first common name of a distinguished name, escapes undone; a value that is no such name is a name itself. */
export function toCommonName(dn: string): string | undefined {
  if (!dn.includes("=")) {
    return dn;
  }
  const [, escaped] = /(?:^|,)\s*cn=((?:[^,\\]|\\.)*)/i.exec(dn) ?? [];
  const bytes = escaped?.replaceAll(/(?:\\[0-9a-f]{2})+/gi, (hex) =>
    Buffer.from(hex.replaceAll("\\", ""), "hex").toString("utf8"),
  );
  return bytes?.replaceAll(/\\(.)/g, "$1").trim().slice(0, 255) || undefined;
}

function toReason(error: unknown): string {
  if (error instanceof AppError && typeof error.detail === "string") {
    return error.detail;
  }
  if (error instanceof InvalidCredentialsError) {
    return "the platform's own entry (LDAP_APP_DN) or its password is refused";
  }
  const { message, code } = error as { message?: unknown; code?: unknown };
  return String(message || code || error);
}
