import { type Address, getAddressDecoder, getI64Decoder, getStructDecoder, getU64Decoder } from '@solana/kit';
import type { ChainTransaction } from '../../transaction.ts';
import { findAuthorityAddress, SUBSCRIPTIONS_PROGRAM } from './subscription.ts';

export interface CollectedPeriod {
  subscription: Address;
  plan: Address;
  subscriber: Address;
  mint: Address;
  amount: bigint;
  /** Seconds. `periodEndTs` is the first second of the next period, or the plan's end. */
  periodStartTs: bigint;
  periodEndTs: bigint;
  amountPulledInPeriod: bigint;
  receiver: Address;
  receiverTokenAccount: Address;
  puller: Address;
}

const COLLECTED = 2;
const decoder = getStructDecoder([
  ['subscription', getAddressDecoder()],
  ['plan', getAddressDecoder()],
  ['subscriber', getAddressDecoder()],
  ['mint', getAddressDecoder()],
  ['amount', getU64Decoder()],
  ['periodStartTs', getI64Decoder()],
  ['periodEndTs', getI64Decoder()],
  ['amountPulledInPeriod', getU64Decoder()],
  ['receiver', getAddressDecoder()],
  ['receiverTokenAccount', getAddressDecoder()],
  ['puller', getAddressDecoder()],
]);

/**
 * Collections of a subscription in a transaction, from the program's events, including those by the plan's owner. Empty if the transaction
 * failed. (subscriptions program 0.4.0, event 2. Later releases may append fields.)
 */
export function collectionsIn({ failed, events }: Pick<ChainTransaction, 'failed' | 'events'>, subscription: Address): CollectedPeriod[] {
  return failed ? [] : allCollected(events).filter((collected) => collected.subscription === subscription);
}

/** Authorities of the collections in a transaction: their transfers pay periods, whatever the memo says. */
export const collectorsIn = ({ events }: Pick<ChainTransaction, 'events'>): string[] =>
  allCollected(events).map(({ subscriber, mint }) => findAuthorityAddress(subscriber, mint).address);

const allCollected = (events: ChainTransaction['events']): CollectedPeriod[] =>
  events
    .filter(({ programId, data }) => programId === SUBSCRIPTIONS_PROGRAM && data[0] === COLLECTED && data.length > decoder.fixedSize)
    .map(({ data }) => decoder.decode(data, 1));
