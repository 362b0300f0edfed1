import { ApiError } from '#core/errors.ts';
import { DECIMALS } from '#core/money.ts';
import type { Ctx } from '#platform/context.ts';
import { sessionRequest } from '#protocols/mpp/session.ts';
import { formatChallenge, newPaymentChallenge } from '#protocols/mpp/wire.ts';
import type { MeteredTerms } from '#rules/metered/rpc.ts';
import { programOf } from './session.ts';

interface SessionChallenge {
  header: string;
  request: Record<string, unknown>;
}

/** Creates a challenge that opens a session. It carries a fresh blockhash, so that a client needs no node. 503 rpc_unavailable. */
export async function newSessionChallenge(ctx: Ctx, terms: MeteredTerms): Promise<SessionChallenge> {
  const { config } = ctx;
  const program = programOf(terms);
  const request = sessionRequest(
    {
      sessionId: terms.sessionId,
      program,
      network: config.NETWORK,
      mint: terms.mint,
      decimals: DECIMALS.USDC,
      cap: BigInt(terms.cap),
      minVoucherDelta: BigInt(terms.minVoucherDelta),
      operator: terms.operator,
      merchantWallet: terms.merchantWallet,
    },
    await readFresh(ctx, terms),
  );
  const realm = new URL(ctx.baseUrl).host;
  const challenge = newPaymentChallenge({ realm, intent: 'session', request, expiresAt: terms.expiresAt }, config.CHALLENGE_KEYS!);
  return { header: formatChallenge(challenge), request };
}

async function readFresh(ctx: Ctx, { generation }: MeteredTerms): Promise<{ blockhash: string; slot: number | null }> {
  const [lifetime, clock] = await Promise.all([ctx.chain.prepare([]), generation === 'current' ? ctx.chain.readAccounts([]) : null]);
  const silent = lifetime.kind === 'unavailable' ? lifetime : clock?.kind === 'unavailable' ? clock : null;
  if (silent !== null || lifetime.kind === 'unavailable' || clock?.kind === 'unavailable') {
    ctx.note(`rpc: ${silent?.reason}`);
    throw new ApiError('rpc_unavailable', { retryAfterSeconds: 2 });
  }
  return { blockhash: lifetime.lifetime.blockhash, slot: clock?.slot ?? null };
}
