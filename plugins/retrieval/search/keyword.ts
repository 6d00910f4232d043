import { type RawBuilder, sql } from "kysely";
import { toSearchText } from "../passages/language.ts";
import type { RetrievalDatabase } from "../tables.ts";
import { type PlainScope, sourcesOf } from "./scope-sql.ts";

/** A passage with a method's own score, which only orders. */
export interface Scored {
  readonly id: number;
  readonly score: number;
}

export interface KeywordQuestion {
  readonly scope: PlainScope;
  readonly query: string;
  readonly languages: readonly string[];
  readonly limit: number;
}

/** The constants of BM25 that literature recommends. */
const [saturation, lengthWeight] = [1.2, 0.75];
/** The rarest words of a long question tell enough. */
const maxLexemes = 24;
/**
 * About how many passages are scored (P22): the words of a question are looked up from the rarest on until they are in
 * this many. A passage that has none of those cannot be among the best.
 */
const maxCandidates = 2_500;

interface Lexeme {
  readonly lexeme: string;
  readonly weight: number;
  readonly passages: number;
}

/**
 * Passages by BM25 over the lexemes of Postgres, best first. Candidates come from the full-text index; how often a
 * lexeme stands in a passage follows from `ts_rank`, which is the sum of 1/i² over its occurrences, divided by π²/6.
 */
export async function searchKeywords(db: RetrievalDatabase, question: KeywordQuestion): Promise<Scored[]> {
  const words = await toLexemes(db, question);
  if (words.length === 0) {
    return [];
  }
  const { passages, length, frequencies } = await readStatistics(db, question.scope, words);
  const lexemes = weigh(words, frequencies, passages);
  if (lexemes.length === 0) {
    return [];
  }
  const average = Math.max(1, length / Math.max(1, passages));
  const norm = sql`(${saturation * (1 - lengthWeight)}::float8 + ${(saturation * lengthWeight) / average}::float8 * p.length)`;
  const terms = lexemes.map(({ lexeme, weight }) => {
    const count = sql`round(1 / (1.644934 * (1 - ts_rank('{1,1,1,1}', p.lexemes, ${quote(lexeme)}::tsquery)::float8)) - 0.5)`;
    // As count / (count + norm), with the costly count asked for once.
    return sql`coalesce(${weight * (saturation + 1)}::float8 / (1 + ${norm} / nullif(${count}, 0)), 0)`;
  });
  const anyWord = chooseCandidates(lexemes)
    .map(({ lexeme }) => quote(lexeme))
    .join(" | ");
  const { rows } = await sql<Scored>`select p.id, ${sql.join(terms, sql` + `)} as score
    from retrieval_passage as p
    where p.lexemes @@ ${anyWord}::tsquery and (p.source_id in (${sourcesOf(question.scope)})) is true
    order by score desc, p.id limit ${question.limit}`.execute(db);
  return rows.map(({ id, score }) => ({ id, score: Number(score) }));
}

/** The lexemes of a question in each language of the scope. */
async function toLexemes(db: RetrievalDatabase, { query, languages }: KeywordQuestion): Promise<string[]> {
  const { rows } = await sql<{ lexeme: string }>`select distinct w.lexeme
    from unnest(${[...languages]}::text[]) as l (name), unnest(to_tsvector(l.name::regconfig, ${toSearchText(query)})) as w`.execute(
    db,
  );
  return rows.map(({ lexeme }) => lexeme);
}

interface Statistics {
  readonly passages: number;
  readonly length: number;
  /** In how many passages each lexeme stands. */
  readonly frequencies: ReadonlyMap<string, number>;
}

/** Collections have their counts in tables; single files are few passages and counted on the spot. */
async function readStatistics(
  db: RetrievalDatabase,
  scope: PlainScope,
  words: readonly string[],
): Promise<Statistics> {
  const ofFiles = sourcesOf({ files: scope.files, collections: [] });
  const collections = [...scope.collections];
  const parts: RawBuilder<unknown>[] = [];
  if (collections.length > 0) {
    parts.push(
      sql`select null as lexeme, sum(passages)::bigint as passages, sum(length)::bigint as length
        from retrieval_collection where name = any(${collections}::text[])`,
      sql`select lexeme, sum(passages)::bigint, 0 from retrieval_term
        where collection = any(${collections}::text[]) and lexeme = any(${[...words]}::text[]) group by lexeme`,
    );
  }
  if (scope.files.length > 0) {
    const own = sql`retrieval_passage as p where p.source_id in (${ofFiles})`;
    parts.push(
      sql`select null as lexeme, count(*)::bigint as passages, coalesce(sum(p.length), 0)::bigint as length from ${own}`,
      sql`select w.lexeme, count(*)::bigint, 0 from unnest(${[...words]}::text[], ${words.map(quote)}::text[]) as w (lexeme, query)
        join retrieval_passage as p on p.lexemes @@ w.query::tsquery
        where p.source_id in (${ofFiles}) group by w.lexeme`,
    );
  }
  const { rows } = await sql<{
    lexeme: string | null;
    passages: number | null;
    length: number | null;
  }>`${sql.join(parts, sql` union all `)}`.execute(db);
  const frequencies = new Map<string, number>();
  let [passages, length] = [0, 0];
  for (const row of rows) {
    if (row.lexeme === null) {
      passages += Number(row.passages ?? 0);
      length += Number(row.length ?? 0);
    } else {
      frequencies.set(row.lexeme, (frequencies.get(row.lexeme) ?? 0) + Number(row.passages));
    }
  }
  return { passages, length, frequencies };
}

/** Lexemes that occur, from the rarest; the rarer, the more each counts. */
function weigh(words: readonly string[], frequencies: ReadonlyMap<string, number>, all: number): Lexeme[] {
  return words
    .map((lexeme) => ({ lexeme, passages: frequencies.get(lexeme) ?? 0 }))
    .filter(({ passages }) => passages > 0)
    .map((entry) => ({
      ...entry,
      weight: Math.log(1 + (Math.max(all, entry.passages) - entry.passages + 0.5) / (entry.passages + 0.5)),
    }))
    .toSorted((a, b) => a.passages - b.passages)
    .slice(0, maxLexemes);
}

function chooseCandidates(lexemes: readonly Lexeme[]): Lexeme[] {
  let sum = 0;
  return lexemes.filter(({ passages }, index) => {
    sum += passages;
    return index === 0 || sum <= maxCandidates;
  });
}

/** A lexeme as a tsquery. */
function quote(lexeme: string): string {
  return `'${lexeme.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}
