import { DAY } from '#core/time.ts';
import type { Shard } from '#platform/context.ts';
import { isVeto } from '#platform/db/commit.ts';
import { type Swept, sweepRounds } from '#platform/db/sweep-pages.ts';
import {
  type Forget,
  forgetAccounts,
  forgetDeliveries,
  forgetFailedSettlements,
  forgetHandoffs,
  forgetHours,
  forgetIdentities,
  forgetNonces,
  forgetPaymentSessions,
  forgetStories,
  keepSetups,
  listEndedSetups,
} from './store.ts';

interface Rule {
  /** How long after its end. */
  keepMs: number;
  why: string;
  forget: Forget;
  /** Where its end is of wall time. */
  isOfWallTime?: true;
}

/**
 * What ends, how long after its end it is kept, and why. Beside these: idempotency records go with their life
 * (platform/db/idempotency-record.ts), judged candidates once the list they were found in is not read again (payments/watch/recheck.ts),
 * unpaid sessions become stubs (payments/watch/ended-sessions.ts), and events, receipts and final payments with their settlements go to the archive
 * (archive.ts). Payments that were confirmed, their claims, memberships, entitlements, activations and money that pays nothing stay for ever.
 */
const RULES = {
  loginNonces: { keepMs: 0, why: 'A text that nobody signed in time signs nobody in.', forget: forgetNonces, isOfWallTime: true },
  handoffs: { keepMs: DAY, why: 'They hold names, which a buyer who comes too late is still told apart by.', forget: forgetHandoffs },
  identitySessions: { keepMs: DAY, why: 'They hold names; what was proven stands in the payment.', forget: forgetIdentities },
  paymentSessions: { keepMs: 30 * DAY, why: 'Their links are answered as over for as long.', forget: forgetPaymentSessions },
  failedSettlements: {
    keepMs: 8 * DAY,
    why: 'From their beginning, of which the first day is looked at; their claims stay, so that nothing is paid with them twice.',
    forget: forgetFailedSettlements,
  },
  deliveries: {
    keepMs: 30 * DAY,
    why: 'Merchants look for what went wrong; events are kept longer than this.',
    forget: forgetDeliveries,
    isOfWallTime: true,
  },
  endpointHours: { keepMs: 2 * DAY, why: 'The health of integrations tells of one day.', forget: forgetHours, isOfWallTime: true },
} satisfies Record<string, Rule>;

const PAGE = 500;
const ROUNDS = { max: PAGE, roundsMax: 20 };

/** The sweep of one rule. */
export const sweepOf =
  (name: keyof typeof RULES) =>
  (ctx: Shard): Promise<Swept> => {
    const { keepMs, forget, isOfWallTime }: Rule = RULES[name];
    return sweepRounds(ctx, ROUNDS, (max) => forget(ctx.db, (isOfWallTime ? ctx.wallNow : ctx.now) - keepMs, max));
  };

const SETUP_KEEP_MS = 7 * DAY;
/** Accounts, and events of them all, that one round ends: about thirty rows are read for each account, and the platform bounds an invocation. */
const SETUPS = { max: 250, roundsMax: 10 };
const STORY_MAX = 1000;

/**
 * Setups that were not paid for, with their account, its keys and all it set up: a week after their end, so that an agent that comes back
 * is told what happened. An account that holds anything of money stays. Where a page of them has more events than a round may end, the
 * next round goes on with the same page.
 */
export const sweepEndedSetups = (ctx: Shard): Promise<Swept> =>
  sweepRounds(ctx, SETUPS, async (max) => {
    const ended = await listEndedSetups(ctx.db, ctx.now - SETUP_KEEP_MS, max);
    const kept = ended.filter(({ holdsMoney }) => holdsMoney === 1);
    const over = ended.filter(({ holdsMoney }) => holdsMoney === 0);
    if (kept.length > 0) await keepSetups(ctx.db, kept);
    if (over.length === 0) return ended.length;
    if (!(await forgetStories(ctx.db, over, STORY_MAX))) return max;
    try {
      await forgetAccounts(ctx, over);
    } catch (error) {
      if (!isVeto(error)) throw error;
      // The next round reads the list again, and knows which of them to keep.
      return max;
    }
    return ended.length;
  });
