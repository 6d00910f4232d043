const alphabet = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const length = 16;

/** A random password that is easy to read aloud and passes the usual rules: groups of letters and digits with dashes. */
export function makePassword(): string {
  for (;;) {
    // Values from the largest multiple on would favour the first letters.
    const limit = 256 - (256 % alphabet.length);
    const bytes = [...crypto.getRandomValues(new Uint8Array(length * 4))].filter((byte) => byte < limit);
    const letters = bytes.slice(0, length).map((byte) => alphabet[byte % alphabet.length]);
    const password = [0, 4, 8, 12].map((start) => letters.slice(start, start + 4).join("")).join("-");
    if (
      letters.length === length &&
      /[a-z]/.test(password) &&
      /[A-Z]/.test(password) &&
      /\d/.test(password)
    ) {
      return password;
    }
  }
}
