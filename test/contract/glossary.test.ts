import { describe, expect, it } from 'vitest';
import { sources } from './sources.ts';

/** Returns the code of a file without comments and without string contents, which are for the wire, SQL or people. */
const codeOf = (text: string): string =>
  text
    .replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, ' ')
    .replace(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, "''")
    .replace(/`(?:[^`\\]|\\[\s\S])*`/g, (template) => (template.match(/\$\{[^}]*\}/g) ?? []).join(' '));

const code = new Map([...sources].filter(([path]) => /\.tsx?$/.test(path)).map(([path, text]) => [path, codeOf(text)]));
const tools = Object.entries(
  import.meta.glob<string>(['../../{local,sdk/src}/**/*.ts', '!**/*.d.ts', '!../../sdk/src/generated/**', '!../../local/*/dist/**'], {
    query: '?raw',
    import: 'default',
    eager: true,
  }),
).map(([path, text]) => [path.slice(6), text] as const);
const service = new Map([...code].filter(([path]) => !path.startsWith('worker/pages/')));

const identifiersOf = (text: string): string[] => [...new Set(text.match(/[A-Za-z_$][\w$]*/g) ?? [])];
/** Splits a name: `toSettlementBody` gives `to`, `settlement`, `body`. */
const partsOf = (name: string): string[] => name.split(/(?<=[a-z0-9])(?=[A-Z])|_/).map((term) => term.toLowerCase());

const commentsOf = (text: string): string[] =>
  [...text.matchAll(/\/\*\*?[\s\S]*?\*\/|(?:^|(?<=\s))\/\/.*$/gm)].map(([comment]) => comment.replace(/\s*\n\s*\*?\s*/g, ' '));

/** Pronouns without a role. Comments name the caller, buyer, merchant, sweep or rival request instead. */
const NO_ROLE = /\b(?:nobody|whoever|somebody|anybody|everybody|whomever|he|his|him|himself)\b/i;

/** Returns names that contain the term outside the allowed files. */
const strayNames = (term: RegExp, files: Map<string, string>, ...allowed: RegExp[]): string[] =>
  [...files]
    .filter(([path]) => !allowed.some((pattern) => pattern.test(path)))
    .flatMap(([path, text]) =>
      identifiersOf(text)
        .filter((name) => partsOf(name).some((part) => term.test(part)))
        .map((name) => `${path}: ${name}`),
    );

const declarations = (text: string, { exportedOnly = false } = {}): string[] =>
  [...text.matchAll(/^(export )?(?:async )?(?:function\*?|const|class|interface|type) (\w+)/gm)]
    .filter(([, exported]) => exported || !exportedOnly)
    .map(([, , name]) => name!);

const BARE =
  /^(?:answer|ask|claim|conclude|confirm|end|find|found|free|judge|keep|look|move|moved|over|pursue|recognise|see|settle|settled|take)$/;

/** Names with one meaning per folder: a response and its example, a state machine and its example. */
const SHARED = ['created', 'ok', 'MEMBERSHIP', 'PAYMENT', 'PRODUCT', 'UNITS_MAX', 'Waiting'];

describe('glossary', () => {
  it('the scan reads the names of every file', () => {
    expect(code.size).toBeGreaterThan(250);
    expect(partsOf('toSettlementBody')).toEqual(['to', 'settlement', 'body']);
    expect(partsOf('CALLS_MAX')).toEqual(['calls', 'max']);
    expect(codeOf("const a = 'offer'; // offer\nconst b = `offer`;")).not.toMatch(/offer/);
    expect(strayNames(/^offers?$/, new Map([['x.ts', codeOf('const offer = getOffer();')]]))).toEqual(['x.ts: offer', 'x.ts: getOffer']);
  });

  it('no name contains offer, except the field of payment discovery and the signed offers of x402', () => {
    const named = /^worker\/(?:published\/discovery|protocols\/x402\/offer-receipt|features\/settlements\/(?:proofs|challenge))\.ts$/;
    expect(strayNames(/^offer(?:s|ed)?$/, code, named)).toEqual([]);
  });

  it('only x402 payments and channel vouchers are settled', () => {
    const sent = [
      /^worker\/features\/(?:settlements|pay-per-request|facilitator|billing)\//,
      /^worker\/protocols\/x402\//,
      /^worker\/rules\/states\.ts$/,
      // The sweep is registered, and a guide names the call.
      /^worker\/sweeps\.ts$/,
      /^worker\/published\/llms\.ts$/,
      /^worker\/platform\/variables\/paying\.ts$/,
      /^worker\/features\/agent-setup\/next-actions\.ts$/,
      /^worker\/features\/sandbox\/scenarios\//,
      /^worker\/platform\/chain\/simulated-config\.ts$/,
      /^(?:worker\/features|worker\/rules|durable-objects)\/metered\//,
      /^worker\/solana\/programs\/payment-channels\//,
      /^worker\/platform\/db\/tables\/settlements\.ts$/,
      /^worker\/published\/event-(?:catalog|examples)\.ts$/,
    ];
    expect(strayNames(/^settle[ds]?$|^settling$/, service, ...sent).filter((name) => !/allSettled$/.test(name))).toEqual([]);
  });

  it('idempotency records are never named claims in code', () => {
    const records = new Map([...code].filter(([path]) => /^worker\/platform\/db\/(?:idempotency-record|lease|once)\.ts$/.test(path)));
    expect(records.size).toBe(3);
    expect(strayNames(/^claim(?:s|ed)?$/, records)).toEqual([]);
    expect(sources.get('worker/platform/db/tables/idempotency.ts')).toContain("export const idempotencyRecords = sqliteTable(\n  'claims'");
  });

  it('receipt code never says chain without receipt', () => {
    const receipts = new Map([...code].filter(([path]) => path.startsWith('worker/features/receipts/')));
    expect(strayNames(/^chains?$/, receipts).filter((name) => !/receiptChain/i.test(name))).toEqual([]);
  });

  it('entitlements have keys, not identities', () => {
    const names = [...service.values()]
      .flatMap((text) => declarations(text))
      .filter((name) => /entitlementIdentity|^identityOf/i.test(name));
    expect(names).toEqual([]);
  });

  it('no declaration is a bare verb without an object', () => {
    const files = [...service].filter(([path]) => !/routes\.tsx?$/.test(path));
    const bare = files.flatMap(([path, text]) =>
      declarations(text)
        .filter((name) => BARE.test(name))
        .map((name) => `${path}: ${name}`),
    );
    expect(bare).toEqual([]);
  });

  it('each exported name is exported from one file', () => {
    const exported = [...service].flatMap(([path, text]) =>
      [...new Set(declarations(text, { exportedOnly: true }))].map((name) => ({ name, path })),
    );
    const twice = [...Map.groupBy(exported, ({ name }) => name)].filter(([name, files]) => files.length > 1 && !SHARED.includes(name));
    expect(twice.map(([name, files]) => `${name}: ${files.map(({ path }) => path).join(', ')}`)).toEqual([]);
  });

  it('comments name a role as the actor', () => {
    const unnamed = (files: Iterable<readonly [string, string]>) =>
      [...files].flatMap(([path, text]) =>
        commentsOf(text)
          .filter((comment) => NO_ROLE.test(comment))
          .map((comment) => `${path}: ${comment.slice(0, 100)}`),
      );
    expect(unnamed([['x.ts', "/** What he\n * signs. */\nconst a = 'nobody'; // For whoever asks."]])).toHaveLength(2);
    expect(unnamed([...sources, ...tools].filter(([path]) => !path.includes('/locales/')))).toEqual([]);
  });

  it('a module comment is the first thing in its file, separate from the first declaration', () => {
    const misplaced = [...sources, ...tools].filter(
      ([, text]) => text.includes('@module') && !/^\/\*\*\n(?: \*.*\n)*? \* @module\n \*\/\n\n(?![\s\S]*@module)/.test(text),
    );
    expect(misplaced.map(([path]) => path)).toEqual([]);
  });
});
