import { type Address, getAddressDecoder, getI64Decoder, getStructDecoder } from '@solana/kit';
import type { ChainTransaction } from '../../transaction.ts';
import type { CollectionRoute } from './standing.ts';
import { SUBSCRIPTIONS_PROGRAM } from './subscription.ts';

const CANCELLED = 1;
const decoder = getStructDecoder([
  ['plan', getAddressDecoder()],
  ['subscriber', getAddressDecoder()],
  ['expiresAtTs', getI64Decoder()],
]);

/**
 * True where a transaction cancelled this wallet's subscription to this plan, by the program's own word; whether it is cancelled still, only
 * its account tells. (subscriptions program 0.4.0, event 1)
 */
export const isCancelledIn = (
  { failed, events }: Pick<ChainTransaction, 'failed' | 'events'>,
  { plan, subscriber }: { plan: Address; subscriber: Address } | CollectionRoute,
): boolean =>
  !failed &&
  events
    .filter(({ programId, data }) => programId === SUBSCRIPTIONS_PROGRAM && data[0] === CANCELLED && data.length > decoder.fixedSize)
    .map(({ data }) => decoder.decode(data, 1))
    .some((cancelled) => cancelled.plan === plan && cancelled.subscriber === subscriber);
