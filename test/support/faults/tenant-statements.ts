import { is } from 'drizzle-orm';
import { getTableConfig, getViewConfig, type SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { archivedPayments, archivedReceipts } from '#platform/db/tables/archives.ts';

const modules = import.meta.glob<Record<string, unknown>>('../../../worker/platform/db/tables/**/*.ts', { eager: true });

export const tenantTables = Object.values(modules)
  .flatMap((module) => Object.values(module))
  .filter((value): value is SQLiteTable => is(value, SQLiteTable))
  .map(getTableConfig)
  .filter(({ columns }) => columns.some(({ name }) => name === 'livemode' || name === 'merchant_id'));

/** Views through which statements read the archived rows of a tenant. */
const archiveViews = [archivedPayments, archivedReceipts].map((view) => {
  const { name, selectedFields } = getViewConfig(view);
  return { name, columns: Object.values(selectedFields) as SQLiteColumn[] };
});

interface Rule {
  /** Column names, or `table.column`. */
  names: RegExp;
  why: string;
}
/** Values unique to one row. A condition on one needs no mode or merchant, because the row has both and the verb compares them. */
export const MINTED: Rule[] = [
  {
    names: /^(?:id|(?:archive|payment|membership|subject|event|endpoint|authorization|receipt|product|delivery)_id)$/,
    why: 'The service makes ids, each for one row of one mode. Contract tests call every route with the ids of other tenants and modes.',
  },
  {
    names: /^(?:(?:identity|payment|sandbox)_session|session|setup_intent|(?:settling|recovers|recovered|last)_payment|access_app)_id$/,
    why: 'A column that refers to such an id holds nothing else.',
  },
  {
    names: /^substr\(id, 15\)$/,
    why: 'The part of an act’s id behind the time is a hash of its subject, which has one merchant and one mode.',
  },
  { names: /^(?:rowid|row_number|seq)$/, why: 'A row number comes from another statement, never from a caller.' },
  { names: /^slug$/, why: 'A slug is unique over both modes and ends in random characters: it is the public address of one product.' },
  {
    names: /^(?:buyer_sellers\.)?buyer_key$/,
    why: 'The hash of a buyer who proved the wallet or address, and asks for all sellers. Only live sales have such rows.',
  },
  { names: /^key_hash$/, why: 'The hash of a key is as unguessable as the key, which is of one merchant and one mode.' },
];

/** Values that a tenant may choose and that are unique over all merchants of a mode. A condition on one needs only the mode. */
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

/** Names on the real chain, shared by all merchants. A condition on one needs a literal `livemode = 1`. */
export const ON_CHAIN: Rule[] = [
  {
    names: /^(?:nonce|tx_signature|channel_id|subscription_address)$/,
    why: 'What the chain shows names a memo, a transaction or an account, and no merchant.',
  },
  {
    names: /^(?:payer_wallet|fee_payer|operator|puller)$/,
    why: 'A limit of one payer counts over all merchants, and a key of the service signs for all of them.',
  },
  { names: /^payout_wallet$/, why: 'An operator who reconciles asks who is paid at a wallet that the chain shows.' },
];

/** State columns, which name no row. Sealed values cannot be named. */
const STATE =
  /^(?:status|kind|actor_kind|origin|type|event_type|subject_type|asset|reason|last_error|failure_code|provider|plan|purpose|quarter|cumulative|settled|merchant_id|livemode|.*_sealed)$/;

type Columns = ReadonlyMap<string, { isText: boolean }>;
const columnsOf = new Map<string, Columns>(
  [...tenantTables, ...archiveViews].map(({ name, columns }) => [
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
const LITERAL = /^[^?…]*(?:=|<>|\blike)\s*'[^']*'(?:\s+escape\s+'.')?\s*$/i;
const CONDITION = /\b(?:where|on)\b((?:(?!\b(?:where|on|group\s+by|order\s+by|limit|(?:inner|left|cross)\s+join|join|having)\b).)*)/gis;
const INNERMOST_CASE = /\bcase\b(?:(?!\bcase\b).)*?\bend\b/gis;

/** Splits a statement into its queries: each without its subqueries, and each half of a union. */
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

/** Joins all conditions of a part. Selected, set and returned columns are no conditions. */
function conditionOf(part: string): string {
  const asked = part.replace(/\bon conflict\b.*/is, '').replace(/\breturning\b.*/is, '');
  const plain = asked.replace(INNERMOST_CASE, 'CASE').replace(INNERMOST_CASE, 'CASE');
  return [...plain.matchAll(CONDITION)].map(([, condition]) => `(${condition})`).join(' and ');
}

function split(expression: string, operator: 'or' | 'and'): string[] {
  const pieces = [''];
  let depth = 0;
  for (const token of expression.split(/(\(|\)|\b(?:or|and)\b)/i)) {
    if (token === '(') depth++;
    if (token === ')') depth--;
    if (depth === 0 && token.toLowerCase() === operator) pieces.push('');
    else pieces.push(pieces.pop()! + token);
  }
  return pieces;
}

/** Alternatives or terms of an expression, or null for a single equation. */
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

/** Columns compared by an equation, each with the other side. */
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

/** Bounds that every matching row satisfies. Of alternatives, only the common bounds count. */
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
      // A literal `livemode = 1` selects all live rows, as readers of the real chain do.
      if (column === 'livemode') return value === '1' ? ['mode', 'chain'] : ['mode'];
      // A merchant's rows are fewer than all live rows, so a merchant bound includes the chain bound.
      if (column === 'merchant_id' || column === 'account_id') return ['merchant', 'chain'];
      return isRuled(MINTED, named, column) ? ['mode', 'merchant', 'chain'] : [];
    }),
  );
}

/** Columns by which an expression names rows, in any comparison and inside functions. */
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
 * Returns the parts of a statement that find tenant rows by a value that a tenant may choose, without mode and merchant in their
 * conditions. A part for both modes says `livemode IN (0, 1)`. A part by time or state alone names no row and belongs to a sweep.
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

export function noteStatement(sql: string): void {
  if (!judged.has(sql)) judged.set(sql, unboundParts(sql));
}

export const unboundSoFar = (): string[] => [...new Set([...judged.values()].flat())];
