// The borders of the project: `npm run check -- borders`. Planted violations in `scripts/checks.test.ts` prove that they hold.

/** Tests, what they share, and the programs around the product may reach everywhere. */
const supporting = "(\\.test\\.ts$|\\.fixture\\.ts$|/testing\\.ts$|^(test|bench|scripts)/)";
// A package that is not installed shows under its bare name.
const packages = (...names) => [`(^|/)node_modules/(${names.join("|")})/`, `^(${names.join("|")})(/|$)`];

const forbidden = [
  [
    "layer-config",
    "config knows nothing but itself",
    { path: "^config/", pathNot: supporting },
    { path: "^(storage|kernel|plugins)/" },
  ],
  [
    "layer-storage",
    "storage knows neither kernel nor plugins",
    { path: "^storage/", pathNot: supporting },
    { path: "^(kernel|plugins)/" },
  ],
  [
    "layer-kernel",
    "the kernel knows no plugin",
    { path: "^kernel/", pathNot: supporting },
    { path: "^plugins/" },
  ],
  [
    "plugin-door",
    "a plugin meets another only through its service.ts",
    { path: "^plugins/([^/]+)/", pathNot: supporting },
    {
      path: "^plugins/([^/]+)/",
      pathNot: ["^plugins/$1/", "^plugins/[^/]+/service\\.ts$", "^plugins/web/kit/"],
    },
  ],
  [
    "catalogue",
    "only the program itself knows which plugins there are",
    { pathNot: [supporting, "^plugins/serve\\.ts$"] },
    { path: "^plugins/(catalogue|serve)\\.ts$", dependencyTypesNot: ["type-only"] },
  ],
  [
    "plugin-declaration",
    "a declaration is for the catalogue alone",
    { pathNot: [supporting, "^plugins/catalogue\\.ts$"] },
    { path: "^plugins/[^/]+/plugin\\.ts$" },
  ],
  [
    "http-server",
    "HTTP servers stay in kernel/http",
    { pathNot: [supporting, "^kernel/http/"] },
    { path: packages("h3", "listhen", "srvx") },
  ],
  [
    "web-sockets",
    "WebSockets stay in plugins/realtime",
    { pathNot: [supporting, "^kernel/http/", "^plugins/realtime/"] },
    { path: packages("crossws", "engine\\.io-parser", "socket\\.io-parser") },
  ],
  [
    "network",
    "outbound calls go through kernel/egress, which checks every address",
    { path: "^(config|kernel|plugins)/", pathNot: [supporting, "^kernel/egress/"] },
    { path: packages("undici", "ofetch") },
  ],
  [
    "network-built-in",
    "plugins have no network but kernel/egress, and start no processes but the gateway's commands and ffmpeg",
    {
      path: "^plugins/",
      pathNot: [
        supporting,
        "^plugins/gateway/commands/",
        "^plugins/audio/transcription/limited-process\\.ts$",
      ].flat(),
    },
    {
      path: "^(node:)?(net|tls|http|https|http2|dgram|dns|dns/promises|child_process|cluster|inspector)$",
      dependencyTypesNot: ["type-only"],
    },
  ],
  [
    "database-driver",
    "only storage knows which database there is",
    { path: "^(config|kernel|plugins)/", pathNot: supporting },
    { path: packages("pg", "pgvector", "@electric-sql/[^/]+", "unstorage", "aws4fetch") },
  ],
  [
    "queries",
    "queries stand in storage, kernel parts that own tables, and plugins' logic, store and tables files",
    {
      path: [
        "^config/",
        "^kernel/(access|completion|egress|http|pipeline|sockets|tools)/",
        "^plugins/[^/]+/(routes|web)/",
        "^plugins/.+[/-](routes|schema|config|service|plugin)\\.ts$",
      ],
      pathNot: supporting,
    },
    { path: packages("kysely") },
  ],
  [
    "jobs",
    "the job queue stands behind kernel/job-runner.ts and kernel/job-tables.ts",
    { pathNot: [supporting, "^kernel/job-(runner|tables)\\.ts$"] },
    { path: packages("pg-boss") },
  ],
  [
    "redis",
    "Redis stands behind plugins/realtime/replicas/bus-redis.ts",
    { pathNot: [supporting, "^plugins/realtime/replicas/bus-redis\\.ts$"] },
    { path: packages("ioredis") },
  ],
  [
    "directory",
    "directories are asked by plugins/ldap alone, at addresses that administrators set",
    { pathNot: [supporting, "^plugins/ldap/directory\\.ts$"] },
    { path: packages("ldapts") },
  ],
  [
    "sandbox",
    "only plugins/sandbox runs foreign code",
    { pathNot: [supporting, "^plugins/sandbox/"] },
    { path: packages("isolated-vm") },
  ],
  [
    "routes-to-store",
    "routes go through the logic file",
    { path: ["^plugins/[^/]+/routes/", "^plugins/.+[/-]routes\\.ts$"], pathNot: supporting },
    { path: "^plugins/.+[/-](store|tables)\\.ts$" },
  ],
  [
    "web-to-server",
    "the web interface takes types from the server and nothing else",
    { path: ["^plugins/[^/]+/web/", "^plugins/web/(kit|shell)/"], pathNot: supporting },
    {
      path: "^(config|storage|kernel|plugins)/",
      pathNot: ["^plugins/[^/]+/web/", "^plugins/web/(kit|shell)/"],
      dependencyTypesNot: ["type-only"],
    },
  ],
  [
    "product-to-support",
    "the product does not use what is there for tests",
    { path: "^(config|storage|kernel|plugins)/", pathNot: supporting },
    { path: supporting },
  ],
  ["no-cycle", "modules that need each other are one module", {}, { circular: true }],
  [
    "unresolvable",
    "an import leads nowhere",
    { path: "^(config|storage|kernel|plugins|test|scripts)/" },
    { couldNotResolve: true },
  ],
];

// A module that the program never loads is dead, whatever its tests say.
const required = {
  name: "no-orphan",
  comment: "every module is used by the program",
  severity: "error",
  from: {
    path: "^(plugins/serve|plugins/extraction/pool/worker|plugins/retrieval/embedding/thread-worker|storage/embedded/worker)\\.ts$",
  },
  to: {
    path: "^(config|storage|kernel|plugins)/.*\\.ts$",
    // The web interface is bundled by Vite, the table is for the generator; a worker is an entry of its own.
    pathNot: [
      supporting,
      "^plugins/web/(kit|shell|frames|dist)/",
      "^plugins/web/(vite|svelte)\\.config\\.[jt]s$",
      "^config/table\\.ts$",
      "^plugins/serve\\.ts$",
      "[/-]worker\\.ts$",
      "^plugins/[^/]+/web/",
    ],
    reachable: false,
  },
};

module.exports = {
  forbidden: [
    ...forbidden.map(([name, comment, from, to]) => ({ name, comment, severity: "error", from, to })),
    required,
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "(^|/)bench/node_modules/|^plugins/web/dist[./]" },
    // Type imports couple as much as others do.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default", "types"],
      extensions: [".ts", ".js", ".mjs", ".cjs", ".json"],
    },
  },
};
