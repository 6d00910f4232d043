import { bool, grouped, int, list, oneOf, text, type Values } from "#config/variable.ts";

const server = {
  enabled: bool("ENABLE_LDAP", false, {
    key: "ldap.enable",
    persisted: true,
    text: "People sign in with the password of a directory (LDAP)",
  }),
  label: text("LDAP_SERVER_LABEL", "", {
    key: "ldap.server.label",
    persisted: true,
    text: "Name of the directory, as people know it",
  }),
  hosts: list("LDAP_SERVER_HOST", ["localhost"], {
    key: "ldap.server.host",
    persisted: true,
    text: "Hosts of the directory, separated by commas; they are asked in this order until one answers",
  }),
  port: int("LDAP_SERVER_PORT", 389, {
    key: "ldap.server.port",
    persisted: true,
    min: 1,
    max: 65_535,
    text: "Port of the directory",
  }),
  timeout: int("LDAP_TIMEOUT", 10, {
    min: 1,
    max: 120,
    text: "Seconds after which a host of the directory counts as silent",
  }),
};

const people = {
  appDn: text("LDAP_APP_DN", "", {
    key: "ldap.server.app_dn",
    persisted: true,
    text: "Entry that the platform searches the directory with; empty searches without sign-in",
  }),
  appPassword: text("LDAP_APP_PASSWORD", "", {
    key: "ldap.server.app_password",
    persisted: true,
    secret: true,
    text: "Password of that entry",
  }),
  searchBase: text("LDAP_SEARCH_BASE", "", {
    key: "ldap.server.users_dn",
    persisted: true,
    text: "Entry below which people are searched for",
  }),
  searchFilters: text("LDAP_SEARCH_FILTERS", "", {
    key: "ldap.server.search_filter",
    persisted: true,
    aliases: ["LDAP_SEARCH_FILTER"],
    text: "Filter that narrows the search down, such as (memberOf=cn=staff,dc=example,dc=com)",
    check: (filter) => (isFilter(filter) ? undefined : "must be empty or stand in brackets"),
  }),
  usernameAttribute: text("LDAP_ATTRIBUTE_FOR_USERNAME", "uid", {
    key: "ldap.server.attribute_for_username",
    persisted: true,
    text: "Attribute that holds the name which people sign in with",
    check: attributeRule,
  }),
  mailAttribute: text("LDAP_ATTRIBUTE_FOR_MAIL", "mail", {
    key: "ldap.server.attribute_for_mail",
    persisted: true,
    text: "Attribute that holds the e-mail address",
    check: attributeRule,
  }),
};

const encryption = {
  useTls: bool("LDAP_USE_TLS", true, {
    key: "ldap.server.use_tls",
    persisted: true,
    text: "The connection to the directory is encrypted",
  }),
  tlsMethod: oneOf("LDAP_TLS_METHOD", ["automatic", "ldaps", "starttls"], "automatic", {
    text: "How it is encrypted: from the start, or by StartTLS; automatic starts it on ports 389 and 3268",
  }),
  caFile: text("LDAP_CA_CERT_FILE", "", {
    key: "ldap.server.ca_cert_file",
    persisted: true,
    text: "File on the server with the certificates that the directory's certificate is checked against",
  }),
  validateCert: bool("LDAP_VALIDATE_CERT", true, {
    key: "ldap.server.validate_cert",
    persisted: true,
    text: "The directory's certificate must be valid",
  }),
  ciphers: text("LDAP_CIPHERS", "ALL", {
    key: "ldap.server.ciphers",
    persisted: true,
    text: "Ciphers that the connection may use, in OpenSSL's words",
  }),
};

const groups = {
  manageGroups: bool("ENABLE_LDAP_GROUP_MANAGEMENT", false, {
    key: "ldap.group.enable_management",
    persisted: true,
    text: "At each sign-in people join the groups that the directory names, and leave the others; administrators keep theirs",
  }),
  createGroups: bool("ENABLE_LDAP_GROUP_CREATION", false, {
    key: "ldap.group.enable_creation",
    persisted: true,
    text: "Groups that the directory names and that do not exist yet are made",
  }),
  groupsAttribute: text("LDAP_ATTRIBUTE_FOR_GROUPS", "memberOf", {
    key: "ldap.group.attribute",
    persisted: true,
    text: "Attribute that holds the groups of a person; the first common name of each counts",
    check: attributeRule,
  }),
};

export const ldapVariables = {
  ...grouped("Directory", server),
  ...grouped("People in the directory", people),
  ...grouped("Encryption", encryption),
  ...grouped("Groups of the directory", groups),
};

export type LdapConfig = Values<typeof ldapVariables>;

/** The settings that a connection and a search depend on, from the environment, the database or a form. */
export type LdapSettings = Omit<LdapConfig, "enabled" | "label">;

function attributeRule(name: string): string | undefined {
  return /^[A-Za-z][A-Za-z0-9.;-]*$/.test(name) ? undefined : "must be the name of an attribute";
}

export function isFilter(filter: string): boolean {
  const trimmed = filter.trim();
  return trimmed === "" || (trimmed.startsWith("(") && trimmed.endsWith(")"));
}
