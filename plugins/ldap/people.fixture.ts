import type { App } from "#test/support/app.ts";
import { directoryBase, type TestDirectory } from "./slapd.fixture.ts";

const person = (uid: string, more: Record<string, string | string[]> = {}) => ({
  dn: `uid=${uid},${directoryBase}`,
  attributes: {
    objectClass: ["inetOrgPerson", "millPerson"],
    uid,
    cn: `Person ${uid}`,
    sn: uid,
    userPassword: `${uid}-password`,
    mail: `${uid.toLowerCase()}@mill.test`,
    ...more,
  },
});

/** The directory's entries: somebody with groups, two of one name, and one without an address. */
export const people = [
  person("ada", {
    displayName: "Ada Miller",
    mail: "Ada@Mill.test",
    memberOfName: [`cn=Millers,${directoryBase}`, `cn=Sluice\\, north,${directoryBase}`],
  }),
  person("bea"),
  person("star*"),
  { ...person("nomail"), attributes: { ...person("nomail").attributes, mail: "none" } },
  { dn: `ou=twins,${directoryBase}`, attributes: { objectClass: "organizationalUnit", ou: "twins" } },
  { ...person("twin"), dn: `cn=one,ou=twins,${directoryBase}` },
  { ...person("twin"), dn: `cn=two,ou=twins,${directoryBase}` },
];

/** The platform's variables for that directory. */
export const toEnv = ({ port, appDn, appPassword }: TestDirectory, more: Record<string, string> = {}) => ({
  ENABLE_LDAP: "true",
  LDAP_SERVER_LABEL: "Mill",
  LDAP_SERVER_HOST: "127.0.0.1",
  LDAP_SERVER_PORT: String(port),
  LDAP_USE_TLS: "false",
  LDAP_APP_DN: appDn,
  LDAP_APP_PASSWORD: appPassword,
  LDAP_SEARCH_BASE: directoryBase,
  LDAP_ATTRIBUTE_FOR_GROUPS: "memberOfName",
  DEFAULT_USER_ROLE: "user",
  ...more,
});

export const signIn = (to: App, user: string, password: string) =>
  to.call("POST /api/v1/auths/ldap", { body: { user, password } });
