import { DAY } from '#core/time.ts';
import { eraseEntitlement } from '#features/entitlements/entitlement.ts';
import { forgetEndedSessions } from '#features/metered/session.ts';
import { inSandbox } from '#platform/chain/scope.ts';
import type { Shard } from '#platform/context.ts';
import { setOfIds } from '#platform/db/among.ts';
import { isAborted } from '#platform/db/commit.ts';
import { type Swept, sweepRounds } from '#platform/db/sweeps.ts';
import {
  deleteSubjects,
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
  forgetPendingTotp,
  forgetProcessorEvents,
  forgetSandboxTransactions,
  forgetUsedStates,
  listEndedSetups,
  listTestEntitlements,
  retainSetups,
} from './store.ts';

interface Rule {
  retentionMs: number;
  why: string;
  /** Deletes up to `limit` items that ended before `before`. Returns how many. */
  forget: Forget | { all(ctx: Shard, before: number, limit: number): Promise<number>; pageMax: number };
  isOfWallTime?: true;
}

/**
 * Retention rules. Deleted elsewhere: idempotency records (platform/db), judged candidates and unpaid sessions (payments/watch), unsigned
 * refunds (payments/refunds), listings (triggers of their product, catalogue/probe). Archived: events, receipts, final payments (archive.ts).
 * Never deleted: confirmed payments, names of sold products, claims, channel payouts, memberships, entitlements, activations, unmatched payments.
 */
const RULES = {
  loginNonces: { retentionMs: 0, why: 'An expired nonce cannot sign in.', forget: forgetNonces, isOfWallTime: true },
  usedSignInStates: { retentionMs: 0, why: 'An expired state cannot sign in.', forget: forgetUsedStates, isOfWallTime: true },
  pendingTotp: { retentionMs: 0, why: 'An expired secret cannot be confirmed.', forget: forgetPendingTotp, isOfWallTime: true },
  handoffs: { retentionMs: DAY, why: 'The names identify a buyer who returns late.', forget: forgetHandoffs },
  identitySessions: { retentionMs: DAY, why: 'Personal data. The payment has the proven identity.', forget: forgetIdentities },
  paymentSessions: { retentionMs: 30 * DAY, why: 'An ended link answers 410 for this time.', forget: forgetPaymentSessions },
  meteredSessions: {
    retentionMs: 90 * DAY,
    why: 'With their objects and channel claims. Payments and receipts remain.',
    forget: { all: forgetEndedSessions, pageMax: 100 },
  },
  authorizations: {
    retentionMs: 90 * DAY,
    why: 'Buyers ask for its outcome. Payments and receipts remain.',
    forget: forgetAuthorizations,
  },
  failedSettlements: {
    retentionMs: 8 * DAY,
    why: 'Counted from their start. Their claims remain, so that nothing is paid with them twice.',
    forget: forgetFailedSettlements,
  },
  deliveries: {
    retentionMs: 30 * DAY,
    why: 'Merchants search for failures. Events are retained longer.',
    forget: forgetDeliveries,
    isOfWallTime: true,
  },
  mails: {
    retentionMs: 30 * DAY,
    why: 'Evidence of sending. One day is counted.',
    forget: forgetMails,
    isOfWallTime: true,
  },
  communityCodes: {
    retentionMs: 0,
    why: 'An expired code cannot claim a chat.',
    forget: forgetCodes,
    isOfWallTime: true,
  },
  processorEvents: {
    retentionMs: 90 * DAY,
    why: 'The processor repeats an event for days. A later one changes nothing.',
    forget: forgetProcessorEvents,
    isOfWallTime: true,
  },
  sandboxTransactions: {
    retentionMs: 90 * DAY,
    why: 'Simulated chain outside sessions. Payments and receipts remain.',
    forget: forgetSandboxTransactions,
  },
  sandboxAccounts: {
    retentionMs: 90 * DAY,
    why: 'Simulated chain outside sessions, after the last use of the wallet. It opens again when it signs.',
    forget: {
      all: async (ctx, before, limit) => (await import('#platform/chain/accounts/forget.ts')).forgetSandboxAccounts(ctx, before, limit),
      pageMax: 200,
    },
  },
  endpointHours: {
    retentionMs: 2 * DAY,
    why: 'Integration health of sandbox sessions covers one day.',
    forget: forgetHours,
    isOfWallTime: true,
  },
} satisfies Record<string, Rule>;

const PAGE = 500;
const ROUNDS = { max: PAGE, roundsMax: 20 };

export const retentionMsOf = (name: keyof typeof RULES): number => RULES[name].retentionMs;

export const sweepOf =
  (name: keyof typeof RULES) =>
  (ctx: Shard): Promise<Swept> => {
    const { retentionMs, forget, isOfWallTime }: Rule = RULES[name];
    const before = (isOfWallTime ? ctx.wallNow : ctx.now) - retentionMs;
    if (typeof forget === 'function') return sweepRounds(ctx, ROUNDS, (max) => forget(ctx.db, before, max));
    return sweepRounds(ctx, { ...ROUNDS, max: forget.pageMax }, (max) => forget.all(ctx, before, max));
  };

export const SETUP_RETENTION_MS = 7 * DAY;
/** Accounts deleted in one round: about 50 rows are read per account, and an invocation may read 100,000. */
const SETUPS = { max: 250, roundsMax: 3 };
const EVENTS_MAX = 1000;
const TEST_SALES_MAX = 200;
const TEST_ENTITLEMENTS_MAX = 50;

/**
 * Deletes the sandbox sales of these accounts. Entitlement objects go first, because their alarms would write rows again. Returns true once
 * nothing is left.
 */
async function forgetTests(ctx: Shard, setups: EndedSetup[]): Promise<boolean> {
  const accountIds = setOfIds(setups.map(({ accountId }) => accountId));
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
 * Deletes unpaid setups with their account, keys and configuration, a week after their end so that a returning agent still gets the
 * outcome. An account with live money is retained. A page with too many events or test sales continues in the next round.
 */
export const sweepEndedSetups = (ctx: Shard): Promise<Swept> =>
  sweepRounds(ctx, SETUPS, async (max) => {
    const ended = await listEndedSetups(ctx.db, ctx.now - SETUP_RETENTION_MS, max);
    const retained = ended.filter(({ holdsMoney }) => holdsMoney === 1);
    const over = ended.filter(({ holdsMoney }) => holdsMoney === 0);
    if (retained.length > 0) await retainSetups(ctx.db, retained);
    if (over.length === 0) return ended.length;
    const tested = over.filter(({ holdsTests }) => holdsTests === 1);
    if (tested.length > 0 && !(await forgetTests(ctx, tested))) return max;
    if (!(await deleteSubjects(ctx.db, over, EVENTS_MAX))) return max;
    try {
      await forgetAccounts(ctx, over);
    } catch (error) {
      if (!isAborted(error)) throw error;
      // An account received money since the list was read. The next round lists again.
      return max;
    }
    return ended.length;
  });
