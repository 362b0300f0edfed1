import { type Config, type Ctx, hasX402 } from '../context.ts';
import { keyRing, type SigningKey } from '../core/crypto.ts';
import { base58 } from '../core/encoding.ts';
import { ApiError, assert, objectAway, storyOf } from '../core/errors.ts';
import { admissionIdOf } from '../core/ids.ts';
import { MINUTE, SECOND } from '../core/time.ts';
import { admissionObject } from '../objects.ts';
import { FEE_LAMPORTS_MAX } from '../x402/exact.ts';

/** The keys that pay the network for agents. They hold a little SOL and nothing else: no token account, no share of any sale. */
export interface FeePayers {
  /** Of new challenges. */
  current: string;
  /** All we sign for, so that a challenge outlives a rotation. */
  addresses: readonly string[];
  signerOf(address: string): SigningKey;
}

export function feePayersOf({ FEE_PAYER_KEYS: secret }: Config): FeePayers {
  assert(secret !== undefined, 'x402 is configured');
  const byAddress = new Map(keyRing(secret).map((key) => [base58.encode(key.publicKey), key]));
  const addresses = [...byAddress.keys()];
  return {
    current: addresses[0]!,
    addresses,
    signerOf: (address) => {
      const key = byAddress.get(address);
      assert(key !== undefined, 'a fee payer signs for itself alone');
      return key;
    },
  };
}

/** Fees of some thousand payments are left at the threshold; below a hundredth of it nobody is asked to pay any more. */
type Funds = 'enough' | 'low' | 'empty' | 'unknown';

const LOOKED_FOR_MS = MINUTE;
/** A node that hangs is left alone for a while, and nobody waits long for it: a denial is not worth more. */
const AWAY_FOR_MS = 5 * SECOND;
const ASK_MS = 1500;
const looks = new Map<string, { until: number; funds: Funds }>();

/** What the current fee payer has left. Asked of the node at most once a minute: every agent's denial wants to know. */
export async function feePayerFunds(ctx: Ctx): Promise<Funds> {
  const address = feePayersOf(ctx.config).current;
  const place = `${ctx.config.rpcUrls[0]} ${address}`;
  const known = looks.get(place);
  if (known && ctx.now < known.until) return known.funds;
  const answer = await ctx.chain.within(ASK_MS).balanceOf(address);
  if (answer.kind === 'unavailable') {
    ctx.note(`rpc: ${answer.reason}`);
    const funds = known?.funds ?? 'unknown';
    looks.set(place, { until: ctx.now + AWAY_FOR_MS, funds });
    return funds;
  }
  const { FEE_PAYER_LOW_LAMPORTS: low } = ctx.config;
  const funds = answer.lamports >= low ? 'enough' : answer.lamports * 100 >= low ? 'low' : 'empty';
  looks.set(place, { until: ctx.now + LOOKED_FOR_MS, funds });
  return funds;
}

/**
 * Takes the fee of one payment out of its merchant's budget of the day, before it is broadcast: what strangers can make us pay has
 * an end, and where it ends others go on. Answers how to give it back where nothing is sent. 429.
 */
export async function spendFee(ctx: Ctx, merchantId: string): Promise<() => Promise<void>> {
  const object = admissionObject(ctx, `account:${admissionIdOf(merchantId)}`);
  const spend = async (lamports: number) => {
    try {
      return await object.spendFees({ lamports, rateMultiplier: ctx.config.RATE_MULTIPLIER, now: ctx.now });
    } catch (error) {
      ctx.note(`object: ${storyOf(error)}`);
      throw objectAway(error);
    }
  };
  const { allowed, resetAt } = await spend(FEE_LAMPORTS_MAX);
  if (!allowed) {
    const detail = 'The network fees we pay for this account are used up for today (UTC). A higher plan has more.';
    throw new ApiError('rate_limited', { detail, retryAfterSeconds: (resetAt - ctx.now) / SECOND, meta: { reason: 'fee_budget' } });
  }
  // A fee that was not given back is missed by nobody but today's budget.
  return () =>
    spend(-FEE_LAMPORTS_MAX).then(
      () => {},
      () => {},
    );
}

/** The balance alarm: a fee payer that runs dry stops every sale to agents, so it is said in the log every minute until it is filled. */
export async function sweepFeePayer(ctx: Ctx): Promise<number> {
  if (!hasX402(ctx.config)) return 0;
  const funds = await feePayerFunds(ctx);
  if (funds === 'enough') return 0;
  ctx.note(`fee payer ${feePayersOf(ctx.config).current}: balance ${funds}; send it SOL`);
  return 1;
}
