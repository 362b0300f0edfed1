import { ed25519 } from '@noble/curves/ed25519.js';
import {
  type Address,
  appendTransactionMessageInstruction,
  type Blockhash,
  compileTransaction,
  createTransactionMessage,
  getTransactionEncoder,
  pipe,
  type ReadonlyUint8Array,
  type SignatureBytes,
  setTransactionMessageComputeUnitLimit,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
  lamports as toLamports,
} from '@solana/kit';
import { getTransferSolInstruction } from '@solana-program/system';
import type { Chain } from '../chain.ts';
import { BLOCKHASH_VALID_SLOTS, FAUCET_ADDRESS, FAUCET_SEED } from '../ledger/network.ts';

const COMPUTE_UNITS = 200_000;

/** Pays lamports from the faucet with a regular transaction, so an airdrop has a signature and a history entry. */
export function requestAirdrop(chain: Chain, recipient: Address, amount: bigint): string {
  const slot = chain.clock.slot;
  const lifetime = { blockhash: chain.blockhashes.at(slot), lastValidBlockHeight: BigInt(slot + BLOCKHASH_VALID_SLOTS) };
  // Varies the compute limit, because two equal airdrops in one slot would be the same transaction.
  const unitLimit = COMPUTE_UNITS + (chain.history.count % COMPUTE_UNITS);
  return chain.send(signPayout(recipient, amount, unitLimit, lifetime), { skipPreflight: false });
}

function signPayout(
  recipient: Address,
  amount: bigint,
  unitLimit: number,
  lifetime: { blockhash: Blockhash; lastValidBlockHeight: bigint },
): ReadonlyUint8Array {
  const source = { address: FAUCET_ADDRESS, signTransactions: () => Promise.reject(new Error('signed below')) };
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (draft) => setTransactionMessageFeePayer(FAUCET_ADDRESS, draft),
    (draft) => setTransactionMessageLifetimeUsingBlockhash(lifetime, draft),
    (draft) => setTransactionMessageComputeUnitLimit(unitLimit, draft),
    (draft) =>
      appendTransactionMessageInstruction(getTransferSolInstruction({ source, destination: recipient, amount: toLamports(amount) }), draft),
  );
  const transaction = compileTransaction(message);
  const signature = ed25519.sign(Uint8Array.from(transaction.messageBytes), FAUCET_SEED) as SignatureBytes;
  return getTransactionEncoder().encode({ ...transaction, signatures: { [FAUCET_ADDRESS]: signature } });
}
