import { type Address, getAddressDecoder, getI64Decoder, getStructDecoder, getU64Decoder } from '@solana/kit';
import type { ChainTransaction } from '../../transaction.ts';
import { findAuthorityAddress, SUBSCRIPTIONS_PROGRAM } from './subscription.ts';

/** What the program says of one collection: by whom, of which period, and where the money went. */
export interface CollectedPeriod {
  subscription: Address;
  plan: Address;
  subscriber: Address;
  mint: Address;
  amount: bigint;
  /** In seconds; `periodEndTs` is the first of the next period, or the plan's end. */
  periodStartTs: bigint;
  periodEndTs: bigint;
  /** All that was collected of the period by then. */
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
 * The collections of a subscription in a transaction, by the program's own word: also those that the plan's owner made without us. None
 * where the transaction failed. (subscriptions program 0.4.0, event 2; later releases may add fields after these)
 */
export function collectionsIn({ failed, events }: Pick<ChainTransaction, 'failed' | 'events'>, subscription: Address): CollectedPeriod[] {
  return failed ? [] : allCollected(events).filter((collected) => collected.subscription === subscription);
}

/** The authorities by which a transaction collects: transfers of theirs pay periods, whatever else the transaction says. */
export const collectorsIn = ({ events }: Pick<ChainTransaction, 'events'>): string[] =>
  allCollected(events).map(({ subscriber, mint }) => findAuthorityAddress(subscriber, mint).address);

const allCollected = (events: ChainTransaction['events']): CollectedPeriod[] =>
  events
    .filter(({ programId, data }) => programId === SUBSCRIPTIONS_PROGRAM && data[0] === COLLECTED && data.length > decoder.fixedSize)
    .map(({ data }) => decoder.decode(data, 1));
