import { Streamer } from '../world/actors/streamer.ts';
import type { PlantedFault } from './planted-fault.ts';

/** The lookup of an operation in an object. */
const RECORDED = ['operations.find(`', '{verb}:', '{key}`, Date.now())'].join('$');

/** Faults of what was bought: units, and who is served for them. */
export const ACCESS_FAULTS: readonly PlantedFault[] = [
  {
    name: 'replay-missing',
    breaks: 'A request that is repeated under its Idempotency-Key takes effect again.',
    mutations: [{ find: RECORDED, replace: 'null' }],
    finding: /units left|units more than it had/,
  },
  {
    name: 'credit-at-each-report',
    breaks: 'A payment is credited each time that somebody reports it.',
    mutations: [{ find: 'if (grant?.credited) return grant.credited;', replace: '' }],
    finding: /units left/,
  },
  {
    name: 'use-outside-transaction',
    breaks: 'An object answers a use before it stores the balance, which a crash then forgets.',
    mutations: [
      {
        find: 'if (!this.tables.isDirty) return outcomes;\n        this.#page = this.#withFlush',
        replace: 'if (!this.tables.isDirty || Math.random() < 0.5) return outcomes;\n        this.#page = this.#withFlush',
      },
    ],
    finding: /units left|units more than it had/,
  },
  {
    name: 'success-served-twice',
    breaks: 'Two requests are each answered as the one that a payment serves.',
    mutations: [
      {
        find: 'if (last3 && !last3.isRefunded) return answerOf2({ by: own2 ? "mine" : "other",',
        replace: 'if (last3 && !last3.isRefunded) return answerOf2({ by: "mine",',
      },
      { find: 'before === null ? isNull(txClaims.answeredBy) : eq(txClaims.answeredBy, before),', replace: '' },
      { find: 'const isTaken2 = consume.isAnswered && last3 === void 0;', replace: 'const isTaken2 = false;' },
    ],
    finding: /was answered as new to \d+ requests/,
  },
  {
    name: 'voucher-below-the-last',
    breaks: 'A metered session accepts a voucher lower than the last one.',
    mutations: [
      { find: 'if (voucher.cumulative <= channel.cumulative) return err("cumulative-not-monotonic");', replace: '' },
      { find: 'if (voucher.cumulative - channel.cumulative < terms2.minVoucherDelta) return err("below-min-delta");', replace: '' },
    ],
    roles: [Streamer],
    finding: /owes \d+, and acknowledged|answered 500 without a fault|acknowledged \d+/,
  },
  {
    name: 'membership-without-end',
    breaks: 'A membership stays active after the time that was paid for.',
    mutations: [{ find: 'addSwept(await sweep("active"), await', replace: 'addSwept(await sweep("grace"), await' }],
    finding: /membership \S+ is active after its end/,
  },
  {
    name: 'answer-not-replayed',
    breaks: 'A write that is repeated under its Idempotency-Key is stored again.',
    mutations: [
      { find: 'const known7 = await findStored();\n    if (known7) return known7;', replace: '' },
      {
        find: 'setWhere: isOver(ctx.wallNow) }),\n      abortUnlessChanged(ctx)\n    ];',
        replace: 'setWhere: isOver(ctx.wallNow) })\n    ];',
      },
    ],
    finding: /repeated under its key created something else/,
  },
];
