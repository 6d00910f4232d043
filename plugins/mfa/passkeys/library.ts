/** Imports the library of passkeys at its first use: 250 modules that most servers never need. */
export const loadPasskeyLibrary = () => import("@simplewebauthn/server");
