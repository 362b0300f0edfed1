import type { Address } from '@solana/kit';
import { getAddMemoInstruction } from '@solana-program/memo';
import { base58 } from '#core/encoding.ts';
import { MEMO_PROGRAM, TOKEN_PROGRAM } from '../../assets.ts';
import { type Lifetime, withReferences } from '../../checkout-transaction.ts';
import { type Operator, signed } from '../own-transaction.ts';
import { collectInstruction } from './instructions.ts';
import type { CollectionRoute } from './subscription-state.ts';

interface Collection {
  route: Omit<CollectionRoute, 'puller'>;
  amount: bigint;
  memo: string;
  /** Read-only keys: the payment's reference, a reference of the service. */
  references: readonly string[];
}

/**
 * Builds the transaction that moves a period's price from buyer to merchant. The signer pays the fee and cannot redirect the money: the
 * plan names the receiver, and the program moves it with the buyer's approval. Signed, in wire form.
 */
export function buildCollection({ route, amount, memo, references }: Collection, lifetime: Lifetime, puller: Operator): Uint8Array {
  const { receiver, mint } = route;
  const by = { puller: base58.encode(puller.publicKey) as Address, receiver, amount, mint, tokenProgram: TOKEN_PROGRAM as Address };
  const instructions = [
    getAddMemoInstruction({ memo }, { programAddress: MEMO_PROGRAM as Address }),
    withReferences(collectInstruction(route, by), references),
  ];
  return signed(instructions, lifetime, puller);
}
