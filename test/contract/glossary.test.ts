import { describe, expect, it } from 'vitest';
import { sources } from './sources.ts';

/** What a file says in code: without comments, and without the text of strings, which is for the wire, for SQL or for people. */
const codeOf = (text: string): string =>
  text
    .replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, ' ')
    .replace(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, "''")
    .replace(/`(?:[^`\\]|\\[\s\S])*`/g, (template) => (template.match(/\$\{[^}]*\}/g) ?? []).join(' '));

const code = new Map([...sources].filter(([path]) => /\.tsx?$/.test(path)).map(([path, text]) => [path, codeOf(text)]));
/** What is published beside the service, and what runs it on one machine. */
const tools = Object.entries(
  import.meta.glob<string>(['../../{local,sdk/src}/**/*.ts', '!**/*.d.ts'], { query: '?raw', import: 'default', eager: true }),
).map(([path, text]) => [path.slice(6), text] as const);
const service = new Map([...code].filter(([path]) => !path.startsWith('worker/pages/')));

const identifiersOf = (text: string): string[] => [...new Set(text.match(/[A-Za-z_$][\w$]*/g) ?? [])];
/** The words of a name: `toSettlementBody` is of `to`, `settlement`, `body`. */
const wordsOf = (name: string): string[] => name.split(/(?<=[a-z0-9])(?=[A-Z])|_/).map((word) => word.toLowerCase());

/** The comments of a file, each in one line. What a program prints or stores is not among them. */
const commentsOf = (text: string): string[] =>
  [...text.matchAll(/\/\*\*?[\s\S]*?\*\/|(?:^|(?<=\s))\/\/.*$/gm)].map(([comment]) => comment.replace(/\s*\n\s*\*?\s*/g, ' '));

/** Nobody in particular, who does nothing in a program: a caller does, a buyer, a merchant, a sweep or a rival request. */
const NO_ROLE = /\b(?:nobody|whoever|somebody|anybody|everybody|whomever|he|his|him|himself)\b/i;

/** Names in which the word stands, where they may not. */
const strayNames = (word: RegExp, files: Map<string, string>, ...allowed: RegExp[]): string[] =>
  [...files]
    .filter(([path]) => !allowed.some((pattern) => pattern.test(path)))
    .flatMap(([path, text]) =>
      identifiersOf(text)
        .filter((name) => wordsOf(name).some((part) => word.test(part)))
        .map((name) => `${path}: ${name}`),
    );

const declarations = (text: string, { exportedOnly = false } = {}): string[] =>
  [...text.matchAll(/^(export )?(?:async )?(?:function\*?|const|class|interface|type) (\w+)/gm)]
    .filter(([, exported]) => exported || !exportedOnly)
    .map(([, , name]) => name!);

/** Verbs that say nothing without what they are done to. */
const BARE =
  /^(?:answer|ask|claim|conclude|confirm|end|find|found|free|judge|keep|look|move|moved|over|pursue|recognise|see|settle|settled|take)$/;

/** Same name, same meaning of its own room: a response and its example, a state machine and the example of one. */
const SHARED = ['created', 'ok', 'MEMBERSHIP', 'PAYMENT', 'PRODUCT', 'UNITS_MAX', 'Waiting'];

describe('the glossary: one word, one thing', () => {
  it('reads the names of every file', () => {
    expect(code.size).toBeGreaterThan(250);
    expect(wordsOf('toSettlementBody')).toEqual(['to', 'settlement', 'body']);
    expect(wordsOf('CALLS_MAX')).toEqual(['calls', 'max']);
    expect(codeOf("const a = 'offer'; // offer\nconst b = `offer`;")).not.toMatch(/offer/);
    expect(strayNames(/^offers?$/, new Map([['x.ts', codeOf('const offer = getOffer();')]]))).toEqual(['x.ts: offer', 'x.ts: getOffer']);
  });

  it('calls nothing an offer: it is a listing, a challenge or a payment handed over', () => {
    expect(strayNames(/^offer(?:s|ed)?$/, code)).toEqual([]);
  });

  it('settles what the service sends: x402 payments, and vouchers of channels; a checkout payment is confirmed', () => {
    const sent = [
      /^worker\/features\/(?:settlements|pay-per-request|facilitator|billing)\//,
      /^worker\/protocols\/x402\//,
      /^worker\/rules\/states\.ts$/,
      // The sweep is registered, and a guide names the call.
      /^worker\/sweeps\.ts$/,
      /^worker\/published\/llms\.ts$/,
      /^worker\/platform\/paying-variables\.ts$/,
      /^worker\/features\/agent-setup\/next-actions\.ts$/,
      // Scenarios of x402, and what its settling is told on a simulated chain.
      /^worker\/features\/sandbox\/scenarios\//,
      /^worker\/platform\/chain\/simulated-config\.ts$/,
      // Channels settle vouchers, in the words of their program.
      /^(?:worker\/features|worker\/rules|durable-objects)\/metered\//,
      /^worker\/solana\/programs\/payment-channels\//,
      /^worker\/platform\/db\/tables\/settlements\.ts$/,
      /^worker\/published\/event-(?:catalog|examples)\.ts$/,
    ];
    expect(strayNames(/^settle[ds]?$|^settling$/, service, ...sent).filter((name) => !/allSettled$/.test(name))).toEqual([]);
  });

  it('claims transactions alone: what a caller’s key leaves is an idempotency record', () => {
    const records = new Map([...code].filter(([path]) => /^worker\/platform\/db\/(?:idempotency-record|lease|once)\.ts$/.test(path)));
    expect(records.size).toBe(3);
    expect(strayNames(/^claim(?:s|ed)?$/, records)).toEqual([]);
    expect(sources.get('worker/platform/db/tables/idempotency.ts')).toContain("export const idempotencyRecords = sqliteTable(\n  'claims'");
  });

  it('says receipt chain in two words, because chain is Solana', () => {
    const receipts = new Map([...code].filter(([path]) => path.startsWith('worker/features/receipts/')));
    expect(strayNames(/^chains?$/, receipts).filter((name) => !/receiptChain/i.test(name))).toEqual([]);
  });

  it('keys entitlements: an identity is what a buyer proved', () => {
    const names = [...service.values()]
      .flatMap((text) => declarations(text))
      .filter((name) => /entitlementIdentity|^identityOf/i.test(name));
    expect(names).toEqual([]);
  });

  it('declares no bare verb: its name says what it is done to', () => {
    // A route is named by its call: `const settle = createRoute(…)`.
    const files = [...service].filter(([path]) => !/routes\.tsx?$/.test(path));
    const bare = files.flatMap(([path, text]) =>
      declarations(text)
        .filter((name) => BARE.test(name))
        .map((name) => `${path}: ${name}`),
    );
    expect(bare).toEqual([]);
  });

  it('exports a name from one file', () => {
    const exported = [...service].flatMap(([path, text]) =>
      [...new Set(declarations(text, { exportedOnly: true }))].map((name) => ({ name, path })),
    );
    const twice = [...Map.groupBy(exported, ({ name }) => name)].filter(([name, files]) => files.length > 1 && !SHARED.includes(name));
    expect(twice.map(([name, files]) => `${name}: ${files.map(({ path }) => path).join(', ')}`)).toEqual([]);
  });

  it('says in comments who acts: a role, and not somebody', () => {
    const unnamed = (files: Iterable<readonly [string, string]>) =>
      [...files].flatMap(([path, text]) =>
        commentsOf(text)
          .filter((comment) => NO_ROLE.test(comment))
          .map((comment) => `${path}: ${comment.slice(0, 100)}`),
      );
    expect(unnamed([['x.ts', "/** What he\n * signs. */\nconst a = 'nobody'; // For whoever asks."]])).toHaveLength(2);
    expect(unnamed([...sources, ...tools].filter(([path]) => !path.includes('/locales/')))).toEqual([]);
  });

  it('puts what a file is about first in it, apart from its first declaration', () => {
    const misplaced = [...sources, ...tools].filter(
      ([, text]) => text.includes('@module') && !/^\/\*\*\n(?: \*.*\n)*? \* @module\n \*\/\n\n(?![\s\S]*@module)/.test(text),
    );
    expect(misplaced.map(([path]) => path)).toEqual([]);
  });
});
