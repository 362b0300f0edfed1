/**
 * Challenge of a 402. The nonce in the memo is a MAC over the terms: the client's echo alone later proves the offer, sale, price and
 * expiry, so issuing costs no write. Single use is enforced by the claim on the signature. Pure.
 * @module
 */

import { equalBytes, hmacSha256, macRing } from '#core/crypto.ts';
import { base64url, utf8 } from '#core/encoding.ts';
import { assert } from '#core/errors.ts';
import { SECOND, unixSeconds } from '#core/time.ts';
import { COMPUTE_CAPS } from './exact.ts';
import type { PaymentRequired, PaymentRequirements, ResourceInfo } from './wire.ts';

export interface ChallengeFacts {
  livemode: boolean;
  merchantId: string;
  productId: string;
  /** CAIP-2. */
  network: string;
  asset: string;
  /** Atomic units for all `quantity` pieces together. */
  amount: string;
  /** Wallet, not token account. */
  payTo: string;
  feePayer: string;
  quantity: number;
  /** Units per piece. Null means unlimited. */
  units: number | null;
  /** Days per piece. Null means no end. */
  days: number | null;
}

const EXPIRY_BYTES = 4;
export const RANDOM_BYTES = 8;
const MAC_BYTES = 16;
const PREFIX = 'svc:';
export const CHALLENGE_SECONDS = 300;

const isPlain = ({ quantity, units, days }: ChallengeFacts): boolean => quantity === 1 && units === 1 && days === null;

/** JSON of a string list is unambiguous. The first string separates this use of the key. */
function macOf(key: Uint8Array, facts: ChallengeFacts, expiryAndRandom: Uint8Array): Uint8Array {
  const { livemode, merchantId, productId, network, asset, amount, payTo, feePayer } = facts;
  const fields = [
    'x402-challenge',
    livemode ? 'live' : 'sandbox',
    merchantId,
    productId,
    network,
    asset,
    amount,
    payTo,
    feePayer,
    base64url.encode(expiryAndRandom),
    ...(isPlain(facts) ? [] : [JSON.stringify([facts.quantity, facts.units, facts.days])]),
  ];
  return hmacSha256(key, utf8(JSON.stringify(fields))).slice(0, MAC_BYTES);
}

interface NewChallenge {
  keys: string;
  random: Uint8Array;
  /** Milliseconds, truncated to seconds. */
  expiresAt: number;
}

/** Memo of a new challenge: `svc:` + base64url(expiry, 4 bytes big-endian | random, 8 | MAC, 16), 42 characters. */
export function newChallenge(facts: ChallengeFacts, { keys, random, expiresAt }: NewChallenge): string {
  assert(random.length === RANDOM_BYTES, `a challenge takes ${RANDOM_BYTES} random bytes`);
  const nonce = new Uint8Array(EXPIRY_BYTES + RANDOM_BYTES + MAC_BYTES);
  new DataView(nonce.buffer).setUint32(0, unixSeconds(expiresAt));
  nonce.set(random, EXPIRY_BYTES);
  nonce.set(macOf(macRing(keys)[0]!, facts, nonce.subarray(0, EXPIRY_BYTES + RANDOM_BYTES)), EXPIRY_BYTES + RANDOM_BYTES);
  return PREFIX + base64url.encode(nonce);
}

type ChallengeVerdict = { ok: true; expiresAt: number } | { ok: false; reason: 'malformed' | 'forged' | 'expired' };

/** Verifies that the service issued this memo for these facts, and that it has not expired. Constant time over the key ring. */
export function verifyChallenge(memo: string, facts: ChallengeFacts, { keys, now }: { keys: string; now: number }): ChallengeVerdict {
  const nonce = parseMemo(memo);
  if (!nonce) return { ok: false, reason: 'malformed' };
  const [signed, mac] = [nonce.subarray(0, EXPIRY_BYTES + RANDOM_BYTES), nonce.subarray(EXPIRY_BYTES + RANDOM_BYTES)];
  const matches = macRing(keys).map((key) => equalBytes(macOf(key, facts, signed), mac));
  if (!matches.includes(true)) return { ok: false, reason: 'forged' };
  const expiresAt = new DataView(nonce.buffer, nonce.byteOffset).getUint32(0) * SECOND;
  return now < expiresAt ? { ok: true, expiresAt } : { ok: false, reason: 'expired' };
}

function parseMemo(memo: string): Uint8Array | null {
  if (!/^svc:[A-Za-z0-9_-]{38}$/.test(memo)) return null;
  try {
    const nonce = base64url.decode(memo.slice(PREFIX.length));
    // Rejects a second spelling of a nonce: the unused bits of the last character must be zero.
    return PREFIX + base64url.encode(nonce) === memo ? nonce : null;
  } catch {
    return null;
  }
}

/** Payment requirements for the client. Quantity, units and days are sent only if they differ from one unit without an end. */
export const requirementsFor = (facts: ChallengeFacts, memo: string): PaymentRequirements => ({
  scheme: 'exact',
  network: facts.network,
  asset: facts.asset,
  amount: facts.amount,
  payTo: facts.payTo,
  maxTimeoutSeconds: CHALLENGE_SECONDS,
  extra: {
    feePayer: facts.feePayer,
    memo,
    ...COMPUTE_CAPS,
    ...(facts.quantity === 1 ? {} : { quantity: facts.quantity }),
    ...(facts.units === 1 ? {} : { units: facts.units }),
    ...(facts.days === null ? {} : { days: facts.days }),
  },
});

export const paymentRequired = (
  resource: ResourceInfo,
  accepts: [PaymentRequirements, ...PaymentRequirements[]],
  { error, extensions }: { error?: string | undefined; extensions: Record<string, unknown> },
): PaymentRequired => ({ x402Version: 2, ...(error === undefined ? {} : { error }), resource, accepts, extensions });

/**
 * Facts and memo claimed by a client's echo, for `verifyChallenge`. Null if the echo cannot match a challenge of the service. Mode,
 * merchant and product come from the caller, never from the echo.
 */
export function claimedChallenge(
  accepted: PaymentRequirements,
  sale: Pick<ChallengeFacts, 'livemode' | 'merchantId' | 'productId'>,
): { facts: ChallengeFacts; memo: string } | null {
  const { network, asset, amount, payTo, extra } = accepted;
  const { feePayer, memo, quantity = 1, units = 1, days = null } = extra ?? {};
  if (typeof feePayer !== 'string' || typeof memo !== 'string' || !namesCaps(extra ?? {})) return null;
  if (!isCount(quantity) || !(units === null || isCount(units)) || !(days === null || isCount(days))) return null;
  return { facts: { ...sale, network, asset, amount, payTo, feePayer, quantity, units, days }, memo };
}

const namesCaps = (extra: Record<string, unknown>): boolean => Object.entries(COMPUTE_CAPS).every(([name, cap]) => extra[name] === cap);

const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value) && value >= 1;
