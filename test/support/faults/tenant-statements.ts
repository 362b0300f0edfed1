import { is } from 'drizzle-orm';
import { getTableConfig, SQLiteTable } from 'drizzle-orm/sqlite-core';

const modules = import.meta.glob<Record<string, unknown>>('../../../worker/platform/db/tables/**/*.ts', { eager: true });

/** Tables with rows of tenants: of one merchant, of one mode, or of both. */
export const tenantTables = Object.values(modules)
  .flatMap((module) => Object.values(module))
  .filter((value): value is SQLiteTable => is(value, SQLiteTable))
  .map(getTableConfig)
  .filter(({ columns }) => columns.some(({ name }) => name === 'livemode' || name === 'merchant_id'));

interface Rule {
  /** Columns, or `table.column`. */
  names: RegExp;
  why: string;
}
/** Values that one row alone can have. A condition on one needs no mode and no merchant: the row says both, and the verb compares them. */
export const MINTED: Rule[] = [
  {
    names: /^(?:id|(?:archive|payment|membership|subject|event|endpoint|authorization|receipt|product|delivery)_id)$/,
    why: 'The service makes ids, each for one row of one mode. Contract tests call every route with the ids of other tenants and modes.',
  },
  {
    names: /^(?:(?:identity|payment|sandbox)_session|session|setup_intent|(?:settling|recovers|recovered|last)_payment|access_app)_id$/,
    why: 'A column that refers to such an id holds nothing else.',
  },
  { names: /^(?:rowid|row_number|seq)$/, why: 'A row number comes from another statement, never from a caller.' },
  { names: /^slug$/, why: 'A slug is unique over both modes and ends in random characters: it is the public address of one product.' },
  { names: /^key_hash$/, why: 'The hash of a key is as unguessable as the key, which is of one merchant and one mode.' },
];

/** Values that a tenant may name, and that are one row's over all merchants of a mode: a condition on one needs the mode alone. */
export const OF_ALL_MERCHANTS: Rule[] = [
  {
    names: /^metered_sessions\.channel_id$/,
    why: 'A client announces a channel at a public address that names no merchant, so one claim holds it against all merchants.',
  },
  {
    names: /^unmatched_payments\.tx_signature$/,
    why: 'A row is a transaction that landed, over a blockhash of one chain: no other merchant’s sandbox can hold its signature.',
  },
];

/** Names on the real chain, which is of all merchants: `livemode = 1`, in so many words, is enough for a condition on one. */
export const ON_CHAIN: Rule[] = [
  {
    names: /^(?:nonce|tx_signature|message_hash|channel_id|subscription_address)$/,
    why: 'What the chain shows names a memo, a transaction or an account, and no merchant.',
  },
  {
    names: /^(?:payer_wallet|fee_payer|operator|puller)$/,
    why: 'A limit of one payer counts over all merchants, and a key of the service signs for all of them.',
  },
  { names: /^payout_wallet$/, why: 'An operator who reconciles asks who is paid at a wallet that the chain shows.' },
];

/** Columns that say how a row stands, and name no row; what is sealed can be named by nobody. */
const STATE =
  /^(?:status|kind|origin|type|event_type|subject_type|asset|reason|last_error|failure_code|provider|plan|purpose|quarter|cumulative|settled|merchant_id|livemode|.*_sealed)$/;

type Columns = ReadonlyMap<string, { isText: boolean }>;
const columnsOf = new Map<string, Columns>(
  tenantTables.map(({ name, columns }) => [
    name,
    new Map([
      ...columns.map((column) => [column.name, { isText: /text|blob/.test(column.getSQLType()) }] as const),
      ['rowid', { isText: false }],
    ]),
  ]),
);

const NEXT = 'on|where|set|inner|left|cross|join|order|group|limit|indexed|not|union|values|select|default|using|returning';
const TABLE = new RegExp(String.raw`\b(?:from|join|update|into)\s+"?([a-z_]+)"?(?:\s+(?:as\s+)?"?(?!(?:${NEXT})\b)([a-z_]+)\b"?)?`, 'gi');
const COLUMN = /^\+?(?:"?([a-z_]+)"?\.)?"?([a-z_]+)"?$/i;
const EQUATION = /^\s*(.*?)\s*(?:(?<![<>!=])=(?!=)|\bin\b|\bis\b(?!\s+(?:not|null)\b))\s*(.*)$/is;
const MENTION = /(?:"?\b([a-z_]+)"?\.)?"?\b([a-z_]+)\b"?(?!\s*\()/gi;
const COMPARISON = /[=<>]|\b(?:in|is\s+(?!not\b|null\b)|like|glob|between|match|instr)\b/i;
/** A comparison with a text of the statement itself. */
const LITERAL = /^[^?…]*(?:=|<>|\blike)\s*'[^']*'(?:\s+escape\s+'.')?\s*$/i;
const CONDITION = /\b(?:where|on)\b((?:(?!\b(?:where|on|group\s+by|order\s+by|limit|(?:inner|left|cross)\s+join|join|having)\b).)*)/gis;
const INNERMOST_CASE = /\bcase\b(?:(?!\bcase\b).)*?\bend\b/gis;

/** A statement, each of its subqueries without those within it, and the halves of each union. */
function partsOf(sql: string): string[] {
  const parts: string[] = [];
  const open: string[] = [''];
  for (const char of sql) {
    if (char === '(') open.push('');
    else if (char === ')' && open.length > 1) {
      const inner = open.pop()!;
      const isQuery = /^\s*(?:select|with)\b/i.test(inner);
      if (isQuery) parts.push(inner);
      open.push(`${open.pop()!}(${isQuery ? '…' : inner})`);
    } else open.push(open.pop()! + char);
  }
  return [...parts, ...open].flatMap((part) => part.split(/\bunion(?:\s+all)?\b/i));
}

/** All that a part asks of its rows, as one condition. What it selects, sets and returns is no condition. */
function conditionOf(part: string): string {
  const asked = part.replace(/\bon conflict\b.*/is, '').replace(/\breturning\b.*/is, '');
  const plain = asked.replace(INNERMOST_CASE, 'CASE').replace(INNERMOST_CASE, 'CASE');
  return [...plain.matchAll(CONDITION)].map(([, condition]) => `(${condition})`).join(' and ');
}

/** Splits an expression at a word that stands in no parentheses. */
function split(expression: string, word: 'or' | 'and'): string[] {
  const pieces = [''];
  let depth = 0;
  for (const token of expression.split(/(\(|\)|\b(?:or|and)\b)/i)) {
    if (token === '(') depth++;
    if (token === ')') depth--;
    if (depth === 0 && token.toLowerCase() === word) pieces.push('');
    else pieces.push(pieces.pop()! + token);
  }
  return pieces;
}

/** Alternatives of an expression, or its terms; null: it is one equation. */
function nodeOf(expression: string): { isEither: boolean; nodes: string[] } | null {
  const either = split(expression, 'or');
  if (either.length > 1) return { isEither: true, nodes: either };
  const terms = split(expression, 'and');
  if (terms.length > 1) return { isEither: false, nodes: terms };
  const inner = /^\s*(not\b)?\s*\((.*)\)\s*$/is.exec(expression);
  return inner ? { isEither: inner[1] !== undefined, nodes: inner[1] ? [inner[2]!, ''] : [inner[2]!] } : null;
}

interface Named {
  alias: string;
  table: string;
  columns: Columns;
}

/** Columns of a table that an equation compares, each with what it is compared with. */
function comparedIn(equation: string, { alias, columns }: Named): { column: string; value: string }[] {
  const [, left = '', right = ''] = EQUATION.exec(equation) ?? [];
  return [[left, right] as const, [right, left] as const].flatMap(([side, value]) => {
    const [, qualifier, name] = COLUMN.exec(side.trim()) ?? [];
    const isOurs = qualifier === undefined || qualifier.toLowerCase() === alias;
    const column = name?.toLowerCase();
    return column !== undefined && isOurs && columns.has(column) ? [{ column, value: value.trim() }] : [];
  });
}

const isRuled = (rules: Rule[], { table }: Named, column: string): boolean =>
  rules.some(({ names }) => names.test(column) || names.test(`${table}.${column}`));

type Bound = 'mode' | 'merchant' | 'chain';

/** By what every row that satisfies the expression is bound. Of alternatives only that counts which all of them say. */
function boundsOf(expression: string, named: Named): Set<Bound> {
  const node = nodeOf(expression);
  if (node) {
    const [first = new Set<Bound>(), ...others] = node.nodes.map((one) => boundsOf(one, named));
    return node.isEither
      ? new Set([...first].filter((bound) => others.every((other) => other.has(bound))))
      : new Set([first, ...others].flatMap((bounds) => [...bounds]));
  }
  return new Set(
    comparedIn(expression, named).flatMap(({ column, value }): Bound[] => {
      // `livemode = 1` in so many words: all live rows, as who reads the real chain means them.
      if (column === 'livemode') return value === '1' ? ['mode', 'chain'] : ['mode'];
      // One merchant's rows are fewer than all live ones.
      if (column === 'merchant_id' || column === 'account_id') return ['merchant', 'chain'];
      return isRuled(MINTED, named, column) ? ['mode', 'merchant', 'chain'] : [];
    }),
  );
}

/** Columns by which an expression names rows, wherever they stand in it: compared in any way, and also within a function. */
function namesIn(expression: string, named: Named): string[] {
  const node = nodeOf(expression);
  if (node) return node.nodes.flatMap((one) => namesIn(one, named));
  if (!COMPARISON.test(expression) || LITERAL.test(expression)) return [];
  return [...expression.replace(/'[^']*'/g, '').matchAll(MENTION)].flatMap(([, qualifier, name]) => {
    const column = name!.toLowerCase();
    const isOurs = qualifier === undefined || qualifier.toLowerCase() === named.alias;
    const isName = isOurs && named.columns.get(column)?.isText && !STATE.test(column) && !isRuled(MINTED, named, column);
    return isName ? [column] : [];
  });
}

/**
 * Parts of a statement that find rows of tenants by a value that a tenant may name, without mode and merchant in their conditions. A part
 * that means both modes says so: `livemode IN (0, 1)`. A part that finds rows by time or state alone names no row, and is a sweep's.
 */
export function unboundParts(sql: string): string[] {
  return partsOf(sql).filter((part) => {
    const condition = conditionOf(part);
    if (condition === '') return false;
    return [...part.matchAll(TABLE)].some(([, table, alias]) => {
      const columns = columnsOf.get(table!);
      if (!columns) return false;
      const named = { table: table!, alias: (alias ?? table!).toLowerCase(), columns };
      const bounds = boundsOf(condition, named);
      const names = namesIn(condition, named);
      const lacksMode = columns.has('livemode') && !bounds.has('mode') && (names.length > 0 || bounds.has('merchant'));
      const ofAll = bounds.has('chain') ? [...OF_ALL_MERCHANTS, ...ON_CHAIN] : OF_ALL_MERCHANTS;
      const lacksMerchant =
        columns.has('merchant_id') && !bounds.has('merchant') && !names.every((column) => isRuled(ofAll, named, column));
      return lacksMode || lacksMerchant;
    });
  });
}

const judged = new Map<string, string[]>();

/** Judges a statement that an invocation of the service runs. */
export function noteStatement(sql: string): void {
  if (!judged.has(sql)) judged.set(sql, unboundParts(sql));
}

/** Parts of the statements noted so far that have to say whose rows they mean, and do not. */
export const unboundSoFar = (): string[] => [...new Set([...judged.values()].flat())];
