import { MINUTE } from '#core/time.ts';
import { calledBy } from '#features/entitlements/entitlement.ts';
import { heldKey } from '#platform/chain/fee-payer.ts';
import type { Scope } from '#platform/context.ts';
import type { MeteredSessionRow } from '#platform/db/tables/settlements.ts';
import type { Channel } from '#solana/programs/payment-channels/channel.ts';
import { buildReclaim } from '#solana/programs/payment-channels/settlement.ts';
import { callSession, lookAgain, type OpenedSession, programOf } from '../session.ts';
import { noteFreed } from '../store.ts';
import { isProvenAbsent, type Look } from './look.ts';
import { bookAll } from './payouts.ts';
import { settleChannel } from './settle.ts';

/**
 * Looks once more at the channel of a session that has ended, until nothing of it is left. One that stands still, because the chain dropped
 * its seal, is sealed again with the vouchers that are kept; the rent of one that is over is taken back once its program gives it.
 */
export async function followEnded(ctx: Scope, session: OpenedSession, row: MeteredSessionRow, look: Look): Promise<void> {
  if (!session.livemode) return noteFreed(ctx, session);
  switch (look.kind) {
    case 'unknown':
      return;
    case 'absent':
      return (await isProvenAbsent(ctx, session)) ? leave(ctx, session, row) : lookAgain(ctx, session, MINUTE);
    case 'over':
      return look.channel === null ? leave(ctx, session, row) : reclaimRent(ctx, session, look.channel);
    case 'standing': {
      const vouchers = await callSession(ctx, session.sessionId, (object) => object.vouchers(calledBy(ctx)));
      await settleChannel(ctx, session, { channel: look.channel, vouchers, step: 'last' });
    }
  }
}

/** Nothing more can come out of it, so once all that did is written down it is never looked at again. */
async function leave(ctx: Scope, session: OpenedSession, row: MeteredSessionRow): Promise<void> {
  if (await bookAll(ctx, session, row)) await noteFreed(ctx, session);
}

/** The current program keeps the rent until the channel's address can never come again. */
async function reclaimRent(ctx: Scope, session: OpenedSession, channel: Channel): Promise<void> {
  const operator = heldKey(ctx.config, 'CHANNEL_KEYS', session.operator);
  if (operator === null) return ctx.note(`operator ${session.operator} is not in CHANNEL_KEYS: rent of ${session.sessionId} waits`);
  const prepared = await ctx.chain.prepare([]);
  if (prepared.kind === 'unavailable') return ctx.note(`rpc: ${prepared.reason}`);
  const settling = { program: programOf(session), channelId: session.bound.channelId, channel };
  const wire = buildReclaim(settling, prepared.lifetime, operator);
  // Before the window is over the program refuses it, and a refusal would cost the fee.
  const simulated = await ctx.chain.simulate(wire);
  const sent = simulated.kind === 'passed' ? await ctx.chain.sendTransaction(wire, { preflight: false }) : null;
  if (sent === null) return;
  if (sent.kind !== 'sent') ctx.note(`broadcast: ${sent.reason}`);
  await lookAgain(ctx, session, MINUTE);
}
