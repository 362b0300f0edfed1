import { DAY } from '#core/time.ts';
import { eraseEntitlement } from '#features/entitlements/entitlement.ts';
import { forgetEndedSessions } from '#features/metered/session.ts';
import { inSandbox } from '#platform/chain/scope.ts';
import type { Shard } from '#platform/context.ts';
import { setOf } from '#platform/db/among.ts';
import { isAborted } from '#platform/db/commit.ts';
import { type Swept, sweepRounds } from '#platform/db/sweeps.ts';
import {
  deleteTestEntitlements,
  deleteTestSales,
  type EndedSetup,
  type Forget,
  forgetAccounts,
  forgetAuthorizations,
  forgetCodes,
  forgetDeliveries,
  forgetFailedSettlements,
  forgetHandoffs,
  forgetHours,
  forgetIdentities,
  forgetMails,
  forgetNonces,
  forgetPaymentSessions,
  forgetProcessorEvents,
  forgetSandboxTransactions,
  forgetStories,
  forgetUsedStates,
  keepSetups,
  listEndedSetups,
  listTestEntitlements,
} from './store.ts';

interface Rule {
  /** How long after its end. */
  keepMs: number;
  why: string;
  /** Deletes up to so many that had ended by then, rows alone or objects with them. Answers how many. */
  forget: Forget | { all(ctx: Shard, before: number, limit: number): Promise<number>; pageMax: number };
  /** Where its end is of wall time. */
  isOfWallTime?: true;
}

/**
 * What ends, how long after its end it is kept, and why. Beside these: idempotency records go with their life
 * (platform/db/idempotency-record.ts), judged candidates once the list they were found in is not read again (payments/watch/recheck.ts),
 * refunds that were never signed go once the chain is known to be without them (payments/refunds/forget.ts),
 * unpaid sessions become stubs (payments/watch/ended-sessions.ts), and events, receipts and final payments with their settlements go to the archive
 * (archive.ts). Payments that were confirmed, their claims, payouts of channels, memberships, entitlements, activations and money that pays nothing stay for ever.
 */
const RULES = {
  loginNonces: { keepMs: 0, why: 'A text that nobody signed in time signs nobody in.', forget: forgetNonces, isOfWallTime: true },
  usedSignInStates: { keepMs: 0, why: 'A state that is over opens nothing any more.', forget: forgetUsedStates, isOfWallTime: true },
  handoffs: { keepMs: DAY, why: 'They hold names, which a buyer who comes too late is still told apart by.', forget: forgetHandoffs },
  identitySessions: { keepMs: DAY, why: 'They hold names; what was proven stands in the payment.', forget: forgetIdentities },
  paymentSessions: { keepMs: 30 * DAY, why: 'Their links are answered as over for as long.', forget: forgetPaymentSessions },
  meteredSessions: {
    keepMs: 90 * DAY,
    why: 'With their objects, and the claims of their channels. What they brought stands in payments and receipts; the chain is long done with them.',
    forget: { all: forgetEndedSessions, pageMax: 100 },
  },
  authorizations: {
    keepMs: 90 * DAY,
    why: 'Buyers look for what became of it; what it brought stands in payments and receipts.',
    forget: forgetAuthorizations,
  },
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
  mails: { keepMs: 30 * DAY, why: 'What was sent, when and why not; a day of them is counted.', forget: forgetMails, isOfWallTime: true },
  communityCodes: {
    keepMs: 0,
    why: 'A code that no administrator posted in time claims nothing.',
    forget: forgetCodes,
    isOfWallTime: true,
  },
  processorEvents: {
    keepMs: 90 * DAY,
    why: 'The processor sends an event again for days; one that comes later still changes nothing.',
    forget: forgetProcessorEvents,
    isOfWallTime: true,
  },
  sandboxTransactions: {
    keepMs: 90 * DAY,
    why: 'Of a simulated chain and of no session. What they paid stands in payments and receipts; nothing asks for them any more.',
    forget: forgetSandboxTransactions,
  },
  sandboxAccounts: {
    keepMs: 90 * DAY,
    why: 'Of a simulated chain and of no session, after their wallet was needed last. It is opened anew when it signs again.',
    forget: {
      all: async (ctx, before, limit) => (await import('#platform/chain/accounts/forget.ts')).forgetSandboxAccounts(ctx, before, limit),
      pageMax: 200,
    },
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
    const before = (isOfWallTime ? ctx.wallNow : ctx.now) - keepMs;
    if (typeof forget === 'function') return sweepRounds(ctx, ROUNDS, (max) => forget(ctx.db, before, max));
    return sweepRounds(ctx, { ...ROUNDS, max: forget.pageMax }, (max) => forget.all(ctx, before, max));
  };

const SETUP_KEEP_MS = 7 * DAY;
/** Accounts, and events of them all, that one round ends: some fifty rows are read for each account, and an invocation may read 100,000. */
const SETUPS = { max: 250, roundsMax: 3 };
const STORY_MAX = 1000;
const TEST_SALES_MAX = 200;
const TEST_ENTITLEMENTS_MAX = 50;

/**
 * Forgets what these accounts have bought and sold in their sandboxes: of entitlements first the objects, whose alarms would write rows
 * again. True once nothing is left.
 */
async function forgetTests(ctx: Shard, setups: EndedSetup[]): Promise<boolean> {
  const accountIds = setOf(setups.map(({ accountId }) => accountId));
  const given = await listTestEntitlements(ctx.db, accountIds, TEST_ENTITLEMENTS_MAX);
  for (const { id, merchantId } of given) await eraseEntitlement(inSandbox(ctx, merchantId, null), id);
  if (given.length > 0)
    await deleteTestEntitlements(
      ctx.db,
      given.map(({ id }) => id),
    );
  return (await deleteTestSales(ctx.db, accountIds, TEST_SALES_MAX)) && given.length < TEST_ENTITLEMENTS_MAX;
}

/**
 * Setups that were not paid for, with their account, its keys and all it set up: a week after their end, so that an agent that comes back
 * is told what happened. An account that holds anything of live money stays; test money goes with it. Where a page of them has more events
 * or tests than a round may end, the next round goes on with the same page.
 */
export const sweepEndedSetups = (ctx: Shard): Promise<Swept> =>
  sweepRounds(ctx, SETUPS, async (max) => {
    const ended = await listEndedSetups(ctx.db, ctx.now - SETUP_KEEP_MS, max);
    const kept = ended.filter(({ holdsMoney }) => holdsMoney === 1);
    const over = ended.filter(({ holdsMoney }) => holdsMoney === 0);
    if (kept.length > 0) await keepSetups(ctx.db, kept);
    if (over.length === 0) return ended.length;
    const tested = over.filter(({ holdsTests }) => holdsTests === 1);
    if (tested.length > 0 && !(await forgetTests(ctx, tested))) return max;
    if (!(await forgetStories(ctx.db, over, STORY_MAX))) return max;
    try {
      await forgetAccounts(ctx, over);
    } catch (error) {
      if (!isAborted(error)) throw error;
      // The next round reads the list again, and knows which of them to keep.
      return max;
    }
    return ended.length;
  });
