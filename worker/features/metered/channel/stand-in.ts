import { type Address, address, createNoopSigner } from '@solana/kit';
import { getAddMemoInstruction } from '@solana-program/memo';
import { getTransferCheckedInstruction } from '@solana-program/token';
import { base58 } from '#core/encoding.ts';
import { DECIMALS } from '#core/money.ts';
import { MEMO_PROGRAM } from '#solana/assets.ts';
import { associatedTokenAccount, type Lifetime } from '#solana/checkout-transaction.ts';
import { type Operator, signed } from '#solana/programs/own-transaction.ts';

/**
 * What stands for the distribution of a channel in the sandbox, where no program runs: the same money by a plain transfer from the
 * channel's escrow, so that whatever judges, records and watches a settlement is the code of live ones. Signed; the wire form.
 */
export async function buildStandIn(
  {
    channelId,
    merchantWallet,
    mint,
    units,
    memo,
  }: { channelId: string; merchantWallet: string; mint: string; units: bigint; memo: string },
  lifetime: Lifetime,
  operator: Operator,
): Promise<Uint8Array> {
  const [source, destination] = await Promise.all([channelId, merchantWallet].map((owner) => associatedTokenAccount(owner, mint)));
  const transfer = getTransferCheckedInstruction({
    source: address(source!),
    mint: address(mint),
    destination: address(destination!),
    authority: createNoopSigner(base58.encode(operator.publicKey) as Address),
    amount: units,
    decimals: DECIMALS.USDC,
  });
  return signed([transfer, getAddMemoInstruction({ memo }, { programAddress: MEMO_PROGRAM as Address })], lifetime, operator);
}
