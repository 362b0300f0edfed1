import { SECOND } from '#core/time.ts';
import { feePayersOf } from '#platform/chain/fee-payer.ts';
import type { Ctx } from '#platform/context.ts';
import {
  CHALLENGE_SECONDS,
  type ChallengeFacts,
  claimedChallenge,
  newChallenge,
  paymentRequired,
  RANDOM_BYTES,
  requirementsFor,
  verifyChallenge,
} from '#protocols/x402/challenge.ts';
import { OFFER_RECEIPT } from '#protocols/x402/offer-receipt.ts';
import { DECLARED_PAYMENT_IDENTIFIER, PAYMENT_IDENTIFIER } from '#protocols/x402/payment-identifier.ts';
import { encodeHeader, type PaymentRequired, type PaymentRequirements, type ResourceInfo } from '#protocols/x402/wire.ts';
import { makeOffers } from './proofs.ts';

/**
 * Length of PAYMENT-REQUIRED: a client echoes nearly all of it with its transaction in PAYMENT-SIGNATURE, and common proxies end a header
 * line at 8,192 characters.
 */
const HEADER_MAX = 6_600;
/** A challenge with less room than this for its offers has none, and signs none. */
const OFFERS_LENGTH_MIN = 1_000;

type Ours = 'network' | 'asset' | 'feePayer';

/** Returns a new challenge in USDC and its header. Writes nothing. */
export function makeChallenge(
  ctx: Pick<Ctx, 'config' | 'now'>,
  sold: Omit<ChallengeFacts, Ours>,
  resource: ResourceInfo,
  error?: string,
): { required: PaymentRequired; header: string } {
  const { config, now } = ctx;
  const facts = { ...sold, network: config.network.caip2, asset: config.network.usdcMint, feePayer: feePayersOf(config).current };
  const random = crypto.getRandomValues(new Uint8Array(RANDOM_BYTES));
  const memo = newChallenge(facts, { keys: config.CHALLENGE_KEYS!, random, expiresAt: now + CHALLENGE_SECONDS * SECOND });
  const accepts = [requirementsFor(facts, memo)] as const;
  const identifier = { [PAYMENT_IDENTIFIER]: DECLARED_PAYMENT_IDENTIFIER };
  const make = (extensions: Record<string, unknown>) => {
    const required = paymentRequired(resource, [...accepts], { error, extensions });
    return { required, header: encodeHeader(required) };
  };
  const bare = make(identifier);
  if (bare.header.length > HEADER_MAX - OFFERS_LENGTH_MIN) return bare;
  const offers = makeOffers(ctx, resource.url, accepts);
  if (!offers) return bare;
  const full = make({ ...identifier, [OFFER_RECEIPT]: offers });
  return full.header.length <= HEADER_MAX ? full : bare;
}

type ChallengeReading =
  | ({ ok: true; nonce: string } & Pick<ChallengeFacts, 'payTo' | 'quantity' | 'units' | 'days'>)
  /** `reason` as x402 names it, `note` for the log. */
  | { ok: false; reason: string; note: string };

/**
 * Returns the terms of an echoed challenge, or the x402 reason if this service did not make the challenge for this sale or it has expired.
 */
export function readChallenge(
  at: { keys: string; now: number },
  accepted: PaymentRequirements,
  sold: Pick<ChallengeFacts, 'livemode' | 'merchantId' | 'productId'>,
): ChallengeReading {
  const claimed = claimedChallenge(accepted, sold);
  const verdict = claimed && verifyChallenge(claimed.memo, claimed.facts, at);
  if (claimed && verdict?.ok) {
    const { payTo, quantity, units, days } = claimed.facts;
    return { ok: true, payTo, quantity, units, days, nonce: claimed.memo.slice('svc:'.length) };
  }
  const problem = verdict?.ok === false ? verdict.reason : 'absent';
  const reason = problem === 'expired' ? 'payment_expired' : 'invalid_payment_requirements';
  return { ok: false, reason, note: `challenge: ${problem}` };
}
