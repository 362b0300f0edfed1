import type { Address } from '@solana/kit';
import { SECOND } from '#core/time.ts';
import { routeOf } from '#features/authorizations/authorization.ts';
import { countFee } from '#features/settlements/fee-budget.ts';
import { ownSignatureOf } from '#features/settlements/new-settlement.ts';
import { heldKey } from '#platform/chain/fee-payer.ts';
import type { Ctx } from '#platform/context.ts';
import type { AuthorizationRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import { type CollectionCode, isInPeriod, type PeriodTimes } from '#rules/subscriptions/schedule.ts';
import type { Operator } from '#solana/programs/own-transaction.ts';
import { type CollectedPeriod, collectionsIn } from '#solana/programs/subscriptions/collected.ts';
import { buildCollection } from '#solana/programs/subscriptions/collection.ts';
import type { Period } from '#solana/programs/subscriptions/subscription.ts';
import type { CollectionRoute, Shortage, SubscriptionState } from '#solana/programs/subscriptions/subscription-state.ts';
import type { ListedSignature } from '#solana/signature-list.ts';
import type { ChainTransaction } from '#solana/transaction.ts';
import { readSubscriptions, type SubscriptionReading } from './read-subscriptions.ts';

/** Returns the key that a plan names as its puller, or null if this deployment does not hold it. */
export const findPuller = ({ config }: Ctx, { puller }: AuthorizationRow): Operator | null => heldKey(config, 'SUBSCRIPTION_KEYS', puller);

/** `claim` stores the transaction before it is sent. It returns null, or why the transaction must not be sent. */
interface Attempt<R> {
  puller: Operator;
  reading: SubscriptionReading;
  marks: CollectionMarks;
  lifetime?: () => PreparedLifetime;
  claim(ready: ReadyCollection): Promise<R | null>;
}

/** `sent`: it may land. `paid`: the chain shows the period as collected. `out_of_time`: a transaction might land in the next period. */
type AttemptResult<R> =
  | { kind: 'sent'; txSignature: string }
  | { kind: 'unclaimed'; refusal: R }
  | { kind: 'paid' | 'out_of_time'; period: PeriodTimes }
  | { kind: 'short'; code: Shortage; period: PeriodTimes }
  | { kind: 'no_consent'; code: CollectionCode }
  | { kind: 'unknown' };

/** Collects the running period of a subscription: prepares, claims, counts the fee and broadcasts. The program collects a period once. */
export async function collectPeriod<R>(
  ctx: Ctx,
  row: AuthorizationRow,
  { puller, reading, marks, lifetime, claim }: Attempt<R>,
): Promise<AttemptResult<R>> {
  const prepared = await prepareCollection(ctx, routeOf(row), marks, puller, { known: reading, lifetime });
  if (prepared.kind === 'not_now') return refusalOf(prepared.state);
  if (prepared.kind !== 'ready') return prepared;
  const refusal = await claim(prepared);
  if (refusal !== null) return { kind: 'unclaimed', refusal };
  await countFee(ctx, row);
  const sent = await ctx.chain.sendTransaction(prepared.wire, { preflight: false });
  if (sent.kind !== 'sent') ctx.note(`broadcast: ${sent.reason}`);
  return { kind: 'sent', txSignature: ownSignatureOf(prepared.wire) };
}

function refusalOf(state: Exclude<SubscriptionState, { kind: 'collectable' }>): AttemptResult<never> {
  switch (state.kind) {
    case 'paid':
      return { kind: 'paid', period: timesOf(state.period) };
    case 'short':
      return { kind: 'short', code: state.reason, period: timesOf(state.period) };
    case 'cancelled':
      return { kind: 'no_consent', code: 'subscription_cancelled' };
    case 'lost':
      return { kind: 'no_consent', code: 'subscription_requires_reapproval' };
  }
}

/** A signed transaction that passed simulation and was not sent. */
export interface ReadyCollection {
  kind: 'ready';
  wire: Uint8Array;
  lastValidBlockHeight: number;
  amount: bigint;
  period: PeriodTimes;
}

type PreparedCollection =
  | ReadyCollection
  | { kind: 'not_now'; state: Exclude<SubscriptionState, { kind: 'collectable' }> }
  | { kind: 'out_of_time'; period: PeriodTimes }
  | { kind: 'unknown' };

type PreparedLifetime = ReturnType<Ctx['chain']['prepare']>;

/** Maximum age of a shared blockhash. It lives for over a minute, so that a transaction still has time to land. */
const LIFETIME_MS = 10 * SECOND;

/** Shares one blockhash among collections of one call. */
export function shareLifetime(ctx: Ctx): () => PreparedLifetime {
  let shared: { asked: PreparedLifetime; at: number } | null = null;
  return async () => {
    if (shared === null || ctx.elapsedMs() - shared.at > LIFETIME_MS) shared = { asked: ctx.chain.prepare([]), at: ctx.elapsedMs() };
    const prepared = await shared.asked;
    if (prepared.kind === 'unavailable') shared = null;
    return prepared;
  };
}

/** Memo and read-only keys by which the payment of a collection is found in its transaction. */
interface CollectionMarks {
  memo: string;
  references: readonly string[];
}

const timesOf = ({ startTs, endTs }: Period): PeriodTimes => ({ startsAt: Number(startTs) * SECOND, endsAt: Number(endTs) * SECOND });

/**
 * Builds, signs and simulates the collection of the running period, so that a transaction that would fail costs no fee. If the simulation
 * contradicts the accounts, something happened in between and they are read again.
 */
export async function prepareCollection(
  ctx: Ctx,
  route: CollectionRoute,
  marks: CollectionMarks,
  puller: Operator,
  { known, lifetime = () => ctx.chain.prepare([]) }: { known?: SubscriptionReading; lifetime?: (() => PreparedLifetime) | undefined } = {},
): Promise<PreparedCollection> {
  const [reading = null] = known ? [known] : await readSubscriptions(ctx, [route]);
  if (reading === null) return { kind: 'unknown' };
  const { state, sight } = reading;
  if (state.kind !== 'collectable') return { kind: 'not_now', state };
  const period = timesOf(state.period);
  const hasBegun = sight.subscription?.currentPeriodStartTs === state.period.startTs;
  if (!isInPeriod(period, ctx.now, hasBegun)) return { kind: 'out_of_time', period };
  const { amount } = sight.subscription!;
  const prepared = await lifetime();
  if (prepared.kind === 'unavailable') return newUnknown(ctx, `rpc: ${prepared.reason}`);
  const wire = buildCollection({ ...marks, route, amount }, prepared.lifetime, puller);
  const simulated = await ctx.chain.simulate(wire);
  if (simulated.kind === 'unavailable') return newUnknown(ctx, `rpc: ${simulated.reason}`);
  if (simulated.kind === 'passed') return { kind: 'ready', wire, lastValidBlockHeight: simulated.lastValidBlockHeight, amount, period };
  const [again = null] = await readSubscriptions(ctx, [route]);
  if (again && again.state.kind !== 'collectable') return { kind: 'not_now', state: again.state };
  // The accounts allow the collection, so the fault is ours: most often the puller has no SOL.
  return newUnknown(ctx, `collection refused: ${simulated.reason}`);
}

function newUnknown(ctx: Ctx, reason: string): PreparedCollection {
  ctx.note(reason);
  return { kind: 'unknown' };
}

/** `none`: every transaction since the period began was read. `unknown`: a node did not answer, or there are too many to read. */
type FoundCollection =
  | { kind: 'found'; transaction: ChainTransaction; collected: CollectedPeriod }
  | { kind: 'none' }
  | { kind: 'unknown' };

/** `readMax`: bounds the transactions read, because anyone can name a subscription in theirs. */
interface Effort {
  pageSize: number;
  readMax: number;
}

const USUAL: Effort = { pageSize: 100, readMax: 400 };
/** Transactions per RPC call. */
const BATCH_SIZE = 20;

/**
 * Finds the transaction that collected a period, by our key or by the plan's owner. Reads back from the newest transaction that names the
 * subscription to the beginning of the period.
 */
export async function findCollection(
  ctx: Ctx,
  subscription: Address,
  periodStartTs: bigint,
  { pageSize, readMax }: Effort = USUAL,
): Promise<FoundCollection> {
  let before: string | null = null;
  for (let read = 0; read < readMax; ) {
    const listed = await ctx.chain.listSignatures(subscription, { before, until: null, limit: pageSize });
    if (listed.kind !== 'page') return { kind: 'unknown' };
    const within = listed.items.filter(({ blockTime }) => blockTime == null || BigInt(blockTime) >= periodStartTs);
    const found = await findAmong(ctx, within, subscription, periodStartTs);
    if (found.kind !== 'none') return found;
    read += within.length;
    // An empty page ends the list. A page that ends before the period's beginning has shown all of it.
    if (listed.items.length === 0 || within.length < listed.items.length) return { kind: 'none' };
    before = listed.items.at(-1)!.signature;
  }
  return { kind: 'unknown' };
}

async function findAmong(ctx: Ctx, items: ListedSignature[], subscription: Address, periodStartTs: bigint): Promise<FoundCollection> {
  for (let from = 0; from < items.length; from += BATCH_SIZE) {
    const signatures = items.slice(from, from + BATCH_SIZE).map(({ signature }) => signature);
    const answer = await ctx.chain.findTransactions(signatures);
    if (answer.kind === 'unavailable') return { kind: 'unknown' };
    for (const sighting of answer.sightings) {
      // A listed transaction may be missing on another node of the same address.
      if (sighting.kind !== 'found') return { kind: 'unknown' };
      const { transaction } = sighting;
      const collected = collectionsIn(transaction, subscription).find((period) => period.periodStartTs === periodStartTs);
      if (collected) return { kind: 'found', transaction, collected };
    }
  }
  return { kind: 'none' };
}

/** Finds the transaction that collected a period of an authorization. */
export const findPeriodCollection = (ctx: Ctx, { subscriptionAddress }: AuthorizationRow, { startsAt }: PeriodTimes) =>
  findCollection(ctx, subscriptionAddress as Address, BigInt(startsAt / SECOND));
