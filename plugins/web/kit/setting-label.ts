const capitals: ReadonlySet<string> = new Set(
  "API APIS CIDR CORS CPU CSV DNS HTTP HTTPS ID IDS IP IPS JSON JWT LDAP MCP MFA MIME OAUTH OLLAMA OPENAI PWA RAG SCIM SQL SSL TCP TLS TTL UI URI URL URLS UTC UUID WEBUI".split(
    " ",
  ),
);

const spelled: Readonly<Record<string, string>> = {
  APIS: "APIs",
  IDS: "IDs",
  IPS: "IPs",
  OAUTH: "OAuth",
  OLLAMA: "Ollama",
  OPENAI: "OpenAI",
  URLS: "URLs",
  WEBUI: "Web UI",
};

/** `DEFAULT_USER_ROLE` → `Default user role`. */
export function toLabel(name: string): string {
  const words = name
    .split("_")
    .filter((word) => word !== "")
    .map((word) => spelled[word] ?? (capitals.has(word) ? word : word.toLowerCase()));
  const [first = "", ...rest] = words;
  return [first.charAt(0).toUpperCase() + first.slice(1), ...rest].join(" ");
}
