import { describe, expect, it } from 'vitest';
import { RAIL_IDS } from '#rules/product-rails.ts';
import {
  BROWSER_FILES,
  edges,
  filesWith,
  folderOf,
  importsOf,
  isFeature,
  outside,
  program,
  RAIL_COMPARED,
  RAIL_FILES,
  rankOf,
  sources,
  specifiersOf,
  stepOf,
} from './sources.ts';

/** Matches a module-level variable or a list that starts empty. */
const MODULE_STATE =
  /^(?:(?:export )?(?:let|var) |(?:(?:export )?const \w+|\s*static (?:readonly )?#?\w+)\b[^=\n]* = (?:new (?:Map|Set)\b[^(\n]*\(\)|\[\]|\{\});)/m;

/** Tables that copy the state of an object. Their version is that of the object, and comparisons use it. */
const COPIES = ['entitlements', 'meteredSessions'];
const VERSIONED = [...sources]
  .filter(([path]) => path.startsWith('worker/platform/db/tables/'))
  .flatMap(([, text]) => text.split(/^export const (?=\w+ = sqliteTable\()/m).slice(1))
  .filter((table) => /^ +version: integer\('version'\)/m.test(table))
  .map((table) => /^(\w+) = sqliteTable\(\s*'(\w+)'/.exec(table)!)
  .filter(([, name]) => !COPIES.includes(name!));
/** Matches a Drizzle update of a versioned or unnamed table, and the same in SQL. */
const BARE_UPDATE = new RegExp(
  `\\.update\\((?:${VERSIONED.map(([, name]) => name).join('|')}|table)\\)|\\bUPDATE (?:OR \\w+ )?(?:${VERSIONED.map(([, , name]) => name).join('|')})\\b`,
);

/** Samples of stored bodies, which name what the bodies name. */
const DICTIONARY = /^worker\/platform\/db\/tables\/squeezed\/dictionary\.ts$/;

describe('direction of imports', () => {
  it('every source file is found and has a rank', () => {
    expect(sources.size).toBeGreaterThan(40);
    expect(edges.length).toBeGreaterThan(150);
    expect([...sources.keys()].filter((path) => Number.isNaN(rankOf(path)))).toEqual([]);
    expect(VERSIONED.length).toBeGreaterThan(12);
    expect(edges.filter(({ target }) => !sources.has(target)).map(({ edge }) => edge)).toEqual([]);
  });

  it('imports point to lower ranks or stay in their own layer', () => {
    expect(edges.filter(({ path, target }) => rankOf(target) > rankOf(path)).map(({ edge }) => edge)).toEqual([]);
  });

  it('a feature imports from routes to verbs to stores, never back', () => {
    const inside = edges.filter(({ path, target }) => isFeature(path) && rankOf(path) === rankOf(target));
    expect(inside.length).toBeGreaterThan(20);
    expect(inside.filter(({ path, target }) => stepOf(target) > stepOf(path)).map(({ edge }) => edge)).toEqual([]);
  });

  it('features use another feature through its verbs and resources, only read its store, and never its routes', () => {
    const across = edges.filter(({ path, target }) => isFeature(path) && isFeature(target) && rankOf(path) !== rankOf(target));
    const isClosed = ({ target, names }: (typeof edges)[number]) =>
      stepOf(target) === 2 || (stepOf(target) === 0 && !names.every((name) => /^(?:find|get|list|load|is|has)[A-Z]/.test(name)));
    expect(across.length).toBeGreaterThan(0);
    expect(across.filter((one) => isClosed(one) && one.path !== 'worker/features/routers.ts').map(({ edge }) => edge)).toEqual([]);
  });

  it('no import cycle exists, tools and client package included', () => {
    const state = new Map<string, 'open' | 'done'>();
    const cycles: string[] = [];
    const visit = (path: string, trail: string[]): void => {
      if (state.get(path) === 'done') return;
      if (state.get(path) === 'open') {
        cycles.push([...trail.slice(trail.indexOf(path)), path].join(' -> '));
        return;
      }
      state.set(path, 'open');
      for (const target of importsOf(path, program.get(path) ?? '')) visit(target, [...trail, path]);
      state.set(path, 'done');
    };
    for (const path of program.keys()) visit(path, []);
    expect(cycles).toEqual([]);
    for (const folder of ['local/chain/', 'sdk/src/', 'worker/core/'])
      expect([...state.keys()].filter((path) => path.startsWith(folder)).length).toBeGreaterThan(10);
  });

  it('enters each folder of the tools and the client package from one side only', () => {
    const below = new Map<string, Set<string>>();
    for (const [path, text] of program) {
      if (sources.has(path)) continue;
      const folder = folderOf(path);
      const entered = importsOf(path, text).map(folderOf);
      below.set(folder, new Set([...(below.get(folder) ?? []), ...entered.filter((other) => other !== folder)]));
    }
    const leadsTo = (from: string, target: string, seen = new Set<string>()): boolean =>
      [...(below.get(from) ?? [])].some((next) => next === target || (!seen.has(next) && leadsTo(next, target, seen.add(next))));
    expect(leadsTo('local/chain/rpc', 'local/chain/ledger')).toBe(true);
    expect([...below.keys()].filter((folder) => leadsTo(folder, folder))).toEqual([]);
  });

  it('no statement updates a table that a move of a partition treats as never updated', () => {
    const owned = sources.get('worker/platform/db/partitions/owned-rows.ts')!;
    const tables = [...owned.matchAll(/owned\((\w+),(?:(?!owned\().)*?isNeverUpdated: true/gs)].map(([, name]) => name!);
    expect(tables).toContain('archivedTypes');
    const inSql = (name: string) => name.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`);
    const updates = tables.flatMap((name) => [
      `update\\(${name}\\)|UPDATE ${inSql(name)}`,
      `(?:stepRows|casUpdate|casUpdateMany|updateUnversioned|commitMany)\\([^,]*, ${name}\\b`,
      `insert\\(${name}\\)(?:(?!;).)*onConflictDoUpdate`,
    ]);
    expect(filesWith(new RegExp(updates.join('|'), 's'))).toEqual([]);
  });

  it('Durable Objects import no database code, and only worker/index.ts imports their classes', () => {
    expect(edges.filter(({ path, target }) => path.startsWith('durable-objects/') && target.startsWith('worker/platform/db/'))).toEqual([]);
    const users = edges.filter(({ path, target }) => target.startsWith('durable-objects/') && !path.startsWith('durable-objects/'));
    expect([...new Set(users.map(({ path }) => path))]).toEqual(['worker/index.ts']);
  });

  it('the service imports nothing from local/ or test/', () => {
    expect(edges.filter(({ target }) => !/^(?:worker|durable-objects)\//.test(target))).toEqual([]);
  });
});

describe('code ownership', () => {
  const importing = (module: RegExp): string[] =>
    [...sources].filter(([, text]) => specifiersOf(text).some((specifier) => module.test(specifier))).map(([path]) => path);
  const drizzle = [
    /^worker\/platform\/db\//,
    /\/(?:[\w-]+\.)?store\.ts$/,
    /^worker\/platform\/context\.ts$/,
    /^worker\/published\/health\.ts$/,
  ];

  it.each([
    ['SQL is written in stores and platform/db/', () => importing(/^drizzle-orm/), drizzle],
    [
      'tables are named in stores and platform/db/; the types of their rows everywhere',
      () => filesWith(/^import (?!type )(?!\{(?: type \w+,?)+ \})[^;]*platform\/db\/tables\//m),
      drizzle.slice(0, 2),
    ],
    [
      'a row that has a version is changed by the primitives of platform/db/, which fail where they miss it or raise its version',
      () => filesWith(BARE_UPDATE),
      // Outcomes have no version, and new account keys are stored under their version.
      [/^worker\/platform\/db\/versioned\.ts$/, /^worker\/features\/(?:finality\/store|accounts\/peppers\/store)\.ts$/],
    ],
    [
      'a list of values or rows reaches SQL through `setOf`, `amongIds` and `jsonRows`, and a batch is aborted by `abortIf` and `abortIfExists`',
      () => filesWith(/json_each\(\$\{JSON\.|\(SELECT value FROM json_each\(\$|abortIf\(\s*\w+,\s*sql`EXISTS \([^`]*\)`|insert\(guard\)/),
      [/^worker\/platform\/db\/(?:among|commit)\.ts$/],
    ],
    ['tables are made in platform/db/tables/', () => filesWith(/\bsqliteTable\(/), [/^worker\/platform\/db\/tables\//]],
    ['only objects touch object storage', () => filesWith(/\bctx\.storage\b|\bstate\.storage\b/), [/^durable-objects\//]],
    [
      'the clock is read once per request or job, and in objects',
      () => filesWith(/\bDate\.now\b|\bnew Date\(\)/),
      [/^worker\/(?:index|jobs|sweeps|platform\/(?:context|log)|published\/health)\.ts$/, /^durable-objects\//, BROWSER_FILES],
    ],
    [
      'only the operator, health, the cron and its sweeps ask every database; calls about all merchants pass those that are away',
      () => [...importing(/each-database\.ts$/), ...filesWith(/\bctx\.databases\.(?:map|flatMap|forEach)\(/)],
      [
        /^worker\/features\/operator\//,
        /^worker\/published\/(?:health|metrics)\.ts$/,
        /^worker\/sweeps\.ts$/,
        /^worker\/platform\/(?:db\/each-database|db\/directory|context)\.ts$/,
        // Sweeps, and what the operator's alarms read.
        /^worker\/features\/payments\/watch\/reference-scan\.ts$/,
        /^worker\/platform\/chain\/fee-payer\.ts$/,
        // The sweep that erases invitations to a deleted person.
        /^worker\/features\/accounts\/members\/erase-invitations\.ts$/,
        // The purchases of a buyer, from merchants of any database.
        /^worker\/features\/buyer-sign-in\/store\.ts$/,
        // The public catalogue of all merchants.
        /^worker\/features\/catalogue\/(?:catalogue|shop)\.ts$/,
        // The operator's switches, its staff, and bounces that the email provider reports.
        /^worker\/features\/(?:rails\/switches\/switches|support\/(?:store|ticket)|email\/outbox|email-delivery\/complaints)\.ts$/,
      ],
    ],
    [
      'the dashboard and the pages of buyers call the published API, and import nothing of features',
      () =>
        [...sources]
          .filter(([path, text]) => /^worker\/pages\/(?:dashboard|me)\//.test(path) && text.includes("'#features/"))
          .map(([path]) => path),
      [],
    ],
    ['only the log prints', () => filesWith(/\bconsole\./), [/^worker\/platform\/log\.ts$/]],
    [
      'only the chain client, the providers, the sender of webhooks and pages in the browser call the network',
      () => filesWith(/(?<![.\w])fetch\(/),
      [/^worker\/solana\/node\.ts$/, /^worker\/platform\/providers\//, /^worker\/features\/webhooks\/deliveries\/post\.ts$/, BROWSER_FILES],
    ],
    ['ids come from core/ids', () => filesWith(/\brandomUUID\b/), []],
    [
      'randomness is cryptographic, but for the jitter of retries',
      () => filesWith(/\bMath\.random\b/),
      [/^worker\/features\/webhooks\/deliveries\/(?:attempt|post)\.ts$/],
    ],
    ['an amount is never a float', () => filesWith(/\bparseFloat\b|\bNumber\([^)]*(?:amount|units|price|fee)/i), []],
    [
      'credentials are read by accounts/auth/, those of buyers by buyer-sign-in/, and seen to exist by one guard',
      () => filesWith(/header\('(?:X-Svc-Key|Authorization)'\)/),
      [/^worker\/features\/(?:accounts\/auth\/authenticate|buyer-sign-in\/token)\.ts$/, /^worker\/platform\/http\/callers\.ts$/],
    ],
    [
      'errors take their shape in platform/http/on-error',
      () => filesWith(/c\.json\(\s*\{\s*detail\b(?=[\s\S]{0,200}\b[45]\d\d\b)/),
      [/^worker\/platform\/http\/on-error\.ts$/],
    ],
    [
      'ApiError is not thrown by pure rules other than the state machines',
      () => filesWith(/throw new ApiError/),
      [/^worker\/(?:core\/errors|rules\/states|middleware)\.ts$/, /^worker\/(?:platform|features|pages)\//],
    ],
    [
      'a rail is named in its row and in features/rails/ alone',
      () => filesWith(new RegExp(`\\b(?:${RAIL_IDS.join('|')})\\b`)),
      [...RAIL_FILES, DICTIONARY],
    ],
    [
      'nothing else asks which rail it has, but what its row says',
      () => filesWith(RAIL_COMPARED),
      [...RAIL_FILES, /^worker\/rules\/product-rails\.ts$/],
    ],
    ['environment variables are read through the checked configuration', () => filesWith(/\bprocess\.env\b/), []],
    [
      'what an isolate remembers it can be made to forget: core/isolate/ keeps it, but for what is built once and never changes',
      () => filesWith(MODULE_STATE),
      [/^worker\/core\/isolate\/memory\.ts$/, /^worker\/app\.ts$/, /^worker\/pages\//],
    ],
    ['no type is escaped', () => filesWith(/\bas any\b|:\s*any\b|@ts-(?:ignore|expect-error|nocheck)/), []],
  ])('%s', (_law, files, allowed) => {
    expect(outside(files(), ...allowed)).toEqual([]);
  });

  it('ownership patterns match the allowed files and their own samples', () => {
    expect(importing(/^drizzle-orm/).length).toBeGreaterThan(5);
    expect(filesWith(/\bDate\.now\b/)).toContain('worker/platform/context.ts');
    expect(filesWith(/\bconsole\./)).toEqual(['worker/platform/log.ts']);
    expect(outside(filesWith(/(?<![.\w])fetch\(/), BROWSER_FILES)).toEqual([
      'worker/features/webhooks/deliveries/post.ts',
      'worker/platform/providers/alarm.ts',
      'worker/platform/providers/domain-proof.ts',
      'worker/platform/providers/local-clock.ts',
      'worker/platform/providers/mail/resend.ts',
      'worker/platform/providers/messaging/platform.ts',
      'worker/platform/providers/messaging/small-telegram.ts',
      'worker/platform/providers/picture.ts',
      'worker/platform/providers/price.ts',
      'worker/platform/providers/processor.ts',
      'worker/platform/providers/shop-probe.ts',
      'worker/platform/providers/sign-in.ts',
      'worker/solana/node.ts',
    ]);
    expect(filesWith(/throw new ApiError/)).toContain('worker/rules/states.ts');
    for (const one of [
      "kind === 'x402'",
      'RAILS[railId].kind',
      "RAILS[a].asset !== 'SOL'",
      'const { asset, kind } = RAILS[b]',
      'id === X402_RAIL',
    ])
      expect(one).toMatch(RAIL_COMPARED);
    for (const one of [
      'let isComplete = false;',
      'const homes = new Map<AccountId, string>();',
      'export const known: Map<string, Seen> = new Map();',
      '  static readonly #verified = new Set<string>();',
    ])
      expect(one).toMatch(MODULE_STATE);
    for (const one of [
      '  let fine = 0;',
      '  const found = new Map();',
      "const BUSY = new Set(['a']);",
      'const homes = new Memory<Id, string>(9);',
    ])
      expect(one).not.toMatch(MODULE_STATE);
  });
});
