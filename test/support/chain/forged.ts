import {
  type Address,
  address,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  createNoopSigner,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  getBase64Encoder,
  getCompiledTransactionMessageDecoder,
  getSignatureFromTransaction,
  getTransactionDecoder,
  partiallySignTransaction,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import { getAddMemoInstruction } from '@solana-program/memo';
import { getTransferCheckedInstruction } from '@solana-program/token';
import { MEMO_PROGRAM } from '#solana/assets.ts';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';
import { callTesting } from '../clients/sandbox.ts';
import type { Merchant, World } from '../world.ts';

interface ForgedTransfer {
  memo: string;
  mint: string;
  from: string;
  to: string;
  units: bigint;
}

const blockhashOf = (wire: string): Blockhash => {
  const { messageBytes } = getTransactionDecoder().decode(getBase64Encoder().encode(wire));
  return (getCompiledTransactionMessageDecoder().decode(messageBytes) as { lifetimeToken: string }).lifetimeToken as Blockhash;
};

/**
 * Builds a sandbox transaction that transfers other people's money. The fee payer has signed, so the signature is known. The test wallet
 * `signer` has not.
 */
export async function forgeTransfer(w: World, merchant: Merchant, transfer: ForgedTransfer, signer = 'thief') {
  const product = await w.product({ ...merchant, key: merchant.sandboxKey }, { price: { asset: 'USDC', amount: '0.5' } });
  const payment = await w.connect(product);
  const thief = (await callTesting(w, merchant, 'POST', 'pay', { payment_id: payment.payment_id, wallet: signer, outcome: 'declined' }))
    .body;
  const prepared = await w.call('POST', `/v1/pay/${payment.payment_id}/solana-pay`, { body: { account: thief.payer_wallet } });
  const { mint, memo, from, to, units } = transfer;
  const payer = await generateKeyPairSigner();
  const [source, destination] = await Promise.all([from, to].map((wallet) => associatedTokenAccount(wallet, mint)));
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (m) => setTransactionMessageFeePayer(payer.address, m),
    (m) => setTransactionMessageLifetimeUsingBlockhash({ blockhash: blockhashOf(prepared.body.transaction), lastValidBlockHeight: 0n }, m),
    (m) =>
      appendTransactionMessageInstructions(
        [
          getTransferCheckedInstruction({
            source: address(source!),
            mint: address(mint),
            destination: address(destination!),
            authority: from as Address,
            amount: units,
            decimals: 6,
          }),
          getAddMemoInstruction(
            { memo, signers: [createNoopSigner(address(thief.payer_wallet))] },
            { programAddress: address(MEMO_PROGRAM) },
          ),
        ],
        m,
      ),
  );
  const signed = await partiallySignTransaction([payer.keyPair], compileTransaction(message));
  return {
    paymentId: payment.payment_id as string,
    transaction: getBase64EncodedWireTransaction(signed),
    txSignature: getSignatureFromTransaction(signed),
  };
}
