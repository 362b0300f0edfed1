import { SECOND } from '#core/time.ts';
import { feePayersOf } from '#platform/chain/fee-payer.ts';
import type { Ctx } from '#platform/context.ts';
import { BAZAAR, type BazaarExtension, withoutOutput } from '#protocols/x402/bazaar.ts';
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
import { SIGN_IN_WITH_X } from '#protocols/x402/sign-in.ts';
import { encodeHeader, type PaymentRequired, type PaymentRequirements, type ResourceInfo } from '#protocols/x402/wire.ts';
import { makeOffers } from './proofs.ts';

/**
 * Length of PAYMENT-REQUIRED: a client echoes nearly all of it with its transaction in PAYMENT-SIGNATURE, and common proxies end a header
 * line at 8,192 characters.
 */
const HEADER_MAX = 6_600;
/** Counted whether there is an error or not, so that a resource always has the same parts. */
const LONGEST_ERROR = '-'.repeat(100);

type Ours = 'network' | 'asset' | 'feePayer';
type Extension = Record<string, unknown>;

interface Declared {
  /** Why a payment was refused, as x402 names it. */
  error?: string | undefined;
  /** How the resource is called. */
  bazaar?: BazaarExtension | null;
  /** How a wallet uses what it has paid for. */
  signIn?: Extension | null;
}

/** Returns a new challenge in USDC and its header. Writes nothing. */
export function makeChallenge(
  ctx: Pick<Ctx, 'config' | 'now'>,
  sold: Omit<ChallengeFacts, Ours>,
  resource: ResourceInfo,
  { error, bazaar = null, signIn = null }: Declared = {},
): { required: PaymentRequired; header: string } {
  const { config, now } = ctx;
  const facts = { ...sold, network: config.network.caip2, asset: config.network.usdcMint, feePayer: feePayersOf(config).current };
  const random = crypto.getRandomValues(new Uint8Array(RANDOM_BYTES));
  const memo = newChallenge(facts, { keys: config.CHALLENGE_KEYS!, random, expiresAt: now + CHALLENGE_SECONDS * SECOND });
  const accepts = [requirementsFor(facts, memo)] as const;
  const full = { resource, bazaar, signIn, offers: makeOffers(ctx, resource.url, accepts) };
  const make = (parts: Parts, reason: string | undefined) =>
    paymentRequired(parts.resource, [...accepts], { error: reason, extensions: extensionsOf(parts) });
  const required = make(
    fittingParts(full, (parts) => encodeHeader(make(parts, LONGEST_ERROR)).length),
    error,
  );
  return { required, header: encodeHeader(required) };
}

interface Parts {
  resource: ResourceInfo;
  bazaar: BazaarExtension | null;
  signIn: Extension | null;
  offers: Extension | null;
}

const extensionsOf = ({ bazaar, signIn, offers }: Parts): Record<string, unknown> => ({
  ...(bazaar ? { [BAZAAR]: bazaar } : {}),
  ...(signIn ? { [SIGN_IN_WITH_X]: signIn } : {}),
  [PAYMENT_IDENTIFIER]: DECLARED_PAYMENT_IDENTIFIER,
  ...(offers ? { [OFFER_RECEIPT]: offers } : {}),
});

const withUrl = ({ resource, ...parts }: Parts, shortened: (url: URL) => string): Parts =>
  URL.canParse(resource.url) ? { ...parts, resource: { ...resource, url: shortened(new URL(resource.url)) } } : { ...parts, resource };

/**
 * Steps that shorten a challenge until its header fits. The extensions suffice, except for a description or URL of characters that JSON or
 * UTF-8 multiplies.
 */
const LEFT_OUT: ((parts: Parts) => Parts)[] = [
  (parts) => ({ ...parts, bazaar: parts.bazaar && withoutOutput(parts.bazaar) }),
  ({ resource: { iconUrl: _, ...resource }, ...parts }) => ({ ...parts, resource }),
  (parts) => ({ ...parts, offers: null }),
  (parts) => ({ ...parts, bazaar: null }),
  (parts) => ({ ...parts, signIn: null }),
  ({ resource: { description: _, ...resource }, ...parts }) => ({ ...parts, resource }),
  (parts) => withUrl(parts, ({ protocol, host, pathname }) => `${protocol}${host && `//${host}`}${pathname}`),
  (parts) => withUrl(parts, ({ protocol, host }) => `${protocol}${host && `//${host}/`}`),
  (parts) => withUrl(parts, ({ protocol }) => protocol),
];

/** Returns as many parts as fit into a header. */
function fittingParts(full: Parts, lengthOf: (parts: Parts) => number): Parts {
  let parts = full;
  for (const leaveOut of LEFT_OUT) {
    if (lengthOf(parts) <= HEADER_MAX) break;
    parts = leaveOut(parts);
  }
  return parts;
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
