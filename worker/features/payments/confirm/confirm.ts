import { ApiError, assert, raise, unreachable } from '#core/errors.ts';
import { partitionOfNonce } from '#core/ids.ts';
import { inMode } from '#platform/chain/scope.ts';
import type { Scope, Shard, Tenant } from '#platform/context.ts';
import { type Change, transact, unchanged } from '#platform/db/commit.ts';
import { findShardAt, homeOf } from '#platform/db/directory.ts';
import { type StoreAnswer, skipStoring, withAnswer } from '#platform/db/once.ts';
import type { Payment, Unmatched } from '#platform/db/tables/payments.ts';
import type { Sighting } from '#solana/node-answers.ts';
import { refundNonceOf } from '#solana/refund.ts';
import { type ChainTransaction, svcMemos, transfersOf } from '#solana/transaction.ts';
import { planSubmit, requireViewer } from '../payment.ts';
import { grantAccess } from '../purchase.ts';
import { recordRefund } from '../refunds/record-refund.ts';
import { findRefundByNonce } from '../refunds/store.ts';
import { missingIdentity } from '../required-identity.ts';
import { findPayment, findSession, getPayment } from '../store.ts';
import { rememberFound, rememberNamed } from '../watch/candidates.ts';
import { restoreEnded } from '../watch/ended-sessions.ts';
import { loadConfirmation } from './store.ts';
import { failureOf, type Loaded, planVerdict, stateError, type Verdict } from './verdict.ts';

interface ConfirmPayment {
  paymentId: Payment['id'];
  txSignature: string;
  viewer: Tenant | null;
  /** Runs before a signature unknown to the chain is stored for the first time. Throws if this caller named too many. */
  countUnseen?(): Promise<void>;
  storeAnswer?: StoreAnswer<Confirmation>;
  /** Confirms payments without a buyer's transaction, such as a subscription's first period. Returns null for other payments. */
  follow?(scope: Scope, payment: Payment): Promise<Confirmation> | null;
}

export interface Confirmation {
  /** Scope of the payment: its merchant, mode and clock. */
  scope: Scope;
  payment: Payment;
  alreadyConfirmed: boolean;
  /** Money that missed the payment, as read before the confirmation. */
  arrived?: Unmatched[];
}

/**
 * Confirms an open checkout session, for all callers and sweeps. Renewals, accepted money and per-request sales are planned as confirmed.
 */
export async function confirmPayment(shard: Shard, input: ConfirmPayment): Promise<Confirmation> {
  const { scope, loaded } = await loadKnown(shard, input, []);
  const followed = input.follow?.(scope, loaded.payment);
  if (followed) return followed;
  // Answers a repeated confirm from the database, even while the node is down.
  const sighting = isReplay(loaded.payment, input) ? null : await scope.chain.findTransaction(input.txSignature);
  return applySighting(scope, input, loaded, sighting, []);
}

/** Confirms by a transaction that the caller has read: its possible payers are known, so one database read is enough. */
export async function confirmFound(shard: Shard, input: ConfirmPayment, sighting: Sighting): Promise<Confirmation> {
  const payers = sighting.kind === 'found' ? spendersOf(sighting.transaction) : [];
  const { scope, loaded } = await loadKnown(shard, input, payers);
  return applySighting(scope, input, loaded, sighting, payers);
}

const isReplay = (payment: Payment, { txSignature }: ConfirmPayment): boolean =>
  payment.status === 'CONFIRMED' && payment.txSignature === txSignature;

/**
 * Loads the facts of a confirmation and the scope of the payment. A session that ended long ago is restored only for a transaction that the
 * chain shows. Throws 404, and the error of a failed session.
 */
async function loadKnown(
  shard: Shard,
  { paymentId, txSignature, viewer }: ConfirmPayment,
  payers: string[],
): Promise<{ scope: Scope; loaded: Loaded }> {
  const stored = await loadConfirmation(shard, paymentId, txSignature, payers);
  const payment = stored?.payment ?? (await getPayment(shard, paymentId));
  requireViewer(payment, viewer);
  const scope = await inMode(shard, payment);
  if (stored) return { scope, loaded: stored };
  const { kind } = await scope.chain.findTransaction(txSignature);
  if (kind !== 'found') throw failureOf(payment);
  await restoreEnded(scope, { paymentId });
  const restored = await loadConfirmation(scope, paymentId, txSignature, payers);
  return { scope, loaded: restored ?? raise('temporarily_unavailable', { retryAfterSeconds: 1 }) };
}

/** Stores what a sighting means, then credits what was bought. `loaded` holds the memberships of the expected wallet and of the wallets in `readFor`. */
async function applySighting(
  ctx: Scope,
  input: ConfirmPayment,
  loaded: Loaded,
  sighting: Sighting | null,
  readFor: readonly string[],
): Promise<Confirmation> {
  const payers = sighting?.kind === 'found' ? payersOf(sighting.transaction, loaded.payment) : [];
  // The first plan uses the loaded rows if they include the payer's membership. A lost race reads again.
  const { customerRef, expectedWallet } = loaded.payment;
  const isRead = (payer: string) => payer === expectedWallet || readFor.includes(payer);
  const facts = {
    known: customerRef !== null || payers.every(isRead) ? loaded : undefined,
    reload: async () => (await loadKnown(ctx, input, payers)).loaded,
  };
  const { storeAnswer = skipStoring } = input;
  let verdict: Verdict;
  const answered: Confirmation[] = [];
  try {
    verdict = await transact(ctx, facts, async (current) => {
      const change = planConfirmation(ctx, input, current, sighting);
      // Stores an answer only for a changed payment. A waiting session is checked again by the next call.
      if (change.result.outcome !== 'done') return change;
      const planned = { scope: ctx, payment: change.result.payment, alreadyConfirmed: false, arrived: current.arrived };
      answered.push(planned);
      return withAnswer(change, storeAnswer(planned));
    });
  } catch (error) {
    // Too many concurrent purchases of one customer: nothing is lost, and the service retries.
    if (!(error instanceof ApiError && error.options.meta?.reason === 'contended')) throw error;
    if (sighting?.kind === 'found') await rememberFound(ctx, loaded.payment, input.txSignature);
    return { scope: ctx, payment: loaded.payment, alreadyConfirmed: false };
  }
  const isUnseen = verdict.outcome === 'unknown' || (verdict.outcome === 'refused' && verdict.isUnseen === true);
  if (isUnseen) await rememberNamed(ctx, input.paymentId, input.txSignature, input.countUnseen);
  const confirmed = verdict.outcome === 'refused' ? verdict.recovered : verdict.payment;
  if (confirmed) await grantAccess(ctx, confirmed);
  if (verdict.outcome === 'refused') throw verdict.error;
  if (sighting?.kind === 'unavailable' || sighting?.kind === 'unreadable') ctx.note(`rpc: ${sighting.reason}`);
  if (sighting?.kind === 'unavailable' && verdict.outcome === 'unknown') throw new ApiError('rpc_unavailable', { retryAfterSeconds: 2 });
  const stored = answered.find(({ payment }) => payment === verdict.payment);
  if (stored) return stored;
  return { scope: ctx, payment: verdict.payment, alreadyConfirmed: verdict.outcome === 'already' };
}

/** Checks in this order: replay, existence, permission, state, amounts, then effects. */
function planConfirmation(ctx: Shard, input: ConfirmPayment, loaded: Loaded, sighting: Sighting | null): Change<Verdict> {
  const { payment } = loaded;
  if (isReplay(payment, input)) return unchanged({ outcome: 'already', payment });
  assert(sighting !== null, 'only a replay is not looked up');
  if (sighting.kind === 'found') return planVerdict(ctx, loaded, sighting.transaction);
  // Records the signature even if the session cannot be paid: if money arrived, the merchant decides.
  const sessionError = stateError(payment) ?? missingIdentity(loaded);
  if (sessionError) return unchanged({ outcome: 'refused', error: sessionError, isUnseen: true });
  switch (sighting.kind) {
    case 'unavailable':
    case 'unreadable':
    case 'not_found':
      return unchanged({ outcome: 'unknown', payment });
    case 'seen': {
      // An unconfirmed signature from a caller must not change state. Only transactions that the service sent or found may.
      if (payment.status === 'PENDING_CONFIRMATION' || !loaded.isOurs) return unchanged({ outcome: 'unknown', payment });
      const submitted = planSubmit(ctx, payment, input.txSignature);
      return { ...submitted, result: { outcome: 'unknown', payment: submitted.result } };
    }
    default:
      return unreachable(sighting);
  }
}

/** Limit on payers read, because the database limits parameters. */
const PAYERS_MAX = 8;
const spendersOf = ({ transfers, lamportTransfers }: ChainTransaction): string[] =>
  [...new Set([...transfers, ...lamportTransfers].map(({ authority }) => authority))].slice(0, PAYERS_MAX);

const payersOf = (transaction: ChainTransaction, { recipientAta, mint }: Payment): string[] => {
  const transfers = transfersOf(transaction, mint);
  const first = transfers.filter(({ destination }) => destination === recipientAta);
  return [...new Set([...first, ...transfers].map(({ authority }) => authority))].slice(0, PAYERS_MAX);
};

/**
 * Confirms the payment that a transaction's memo names. `later`: chain or database does not show enough yet. `nothing`: no payment of this
 * service.
 */
export async function confirmByMemo(ctx: Shard, txSignature: string): Promise<'settled' | 'later' | 'unavailable' | 'nothing'> {
  const sighting = await ctx.chain.findTransaction(txSignature);
  if (sighting.kind !== 'found') return sighting.kind === 'unavailable' ? 'unavailable' : 'later';
  const refundNonce = refundNonceOf(sighting.transaction);
  if (refundNonce !== null) {
    const home = findHomeOfNonce(ctx, refundNonce);
    const refund = home && (await findRefundByNonce(home, refundNonce));
    if (!refund) return 'nothing';
    await recordRefund(home, sighting.transaction, refund);
    return 'settled';
  }
  const payment = await findNamedSession(ctx, sighting.transaction);
  if (payment === 'none') return 'nothing';
  if (!payment) return 'later';
  await confirmFound(homeOf(ctx, payment.id), { paymentId: payment.id, txSignature, viewer: null }, sighting);
  return 'settled';
}

/** Database of the payment or refund that a nonce names. Null: no nonce of this service. */
const findHomeOfNonce = (ctx: Shard, nonce: string): Shard | null => findShardAt(ctx, partitionOfNonce(nonce));

/** Finds the session of a transaction's single `svc:` memo. Returns null if no such session is stored yet. */
export async function findNamedSession(ctx: Shard, { memos }: ChainTransaction): Promise<Payment | null | 'none'> {
  const [memo, ...more] = svcMemos(memos);
  if (memo === undefined || more.length > 0) return 'none';
  const nonce = memo.slice('svc:'.length);
  const home = findHomeOfNonce(ctx, nonce);
  if (home === null) return 'none';
  const open = await findSession(home, nonce);
  const isMissing = open === undefined && (await restoreEnded(home, { nonces: [nonce] })) > 0;
  return (isMissing ? await findSession(home, nonce) : open) ?? null;
}

/** Grants access for a repeated answer: its first call may have crashed between confirmation and access. */
export async function grantConfirmed(ctx: Shard, paymentId: Payment['id']): Promise<void> {
  const payment = await findPayment(ctx, paymentId);
  if (payment) await grantAccess(ctx, payment);
}
