import {
  AccountRole,
  address,
  appendTransactionMessageInstructions,
  type Blockhash,
  createTransactionMessage,
  decompileTransactionMessage,
  generateKeyPairSigner,
  getBase64Decoder,
  getBase64EncodedWireTransaction,
  getBase64Encoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  getTransactionEncoder,
  type KeyPairSigner,
  partiallySignTransaction,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit';
import { getAddMemoInstruction } from '@solana-program/memo';
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getTransferCheckedInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token';
import { callChain } from '../chain/client.ts';

export interface Bill {
  recipient: string;
  mint: string;
  decimals: number;
  memo: string;
  references: string[];
}

interface Preview {
  feePayer: string;
  units: bigint;
  destination: string;
  memo: string;
}

/** Current memo program of wallets. The library's default is a newer one. */
const MEMO_PROGRAM = address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');
const TRANSFER_CHECKED = 12;
const CONFIRMED_EVERY_MS = 100;
const CONFIRMED_TIMEOUT_MS = 20_000;

export class WalletChain {
  readonly url: string;
  constructor(url: string) {
    this.url = url;
  }

  call<T>(method: string, ...params: unknown[]): Promise<T> {
    return callChain<T>(this.url, method, params);
  }

  /** Creates a wallet with 1 SOL for fees from the faucet and without a USDC account. */
  async newWallet(): Promise<KeyPairSigner> {
    const signer = await generateKeyPairSigner();
    await this.call('local_fundSol', signer.address, '1000000000');
    return signer;
  }

  async newBuyer(usdcUnits: bigint): Promise<KeyPairSigner> {
    const signer = await generateKeyPairSigner();
    await this.fund(signer.address, usdcUnits);
    return signer;
  }

  /** Gives a wallet 1 SOL for fees, and USDC. */
  async fund(owner: string, usdcUnits: bigint): Promise<void> {
    await this.call('local_fundSol', owner, '1000000000');
    await this.call('local_fundUsdc', owner, usdcUnits.toString());
  }

  async balanceOf(owner: string, mint: string): Promise<bigint> {
    const account = await deriveTokenAccount(owner, mint);
    const { value } = await this.call<{ value: unknown }>('getAccountInfo', account, { encoding: 'base64' });
    if (value === null) return 0n;
    const balance = await this.call<{ value: { amount: string } }>('getTokenAccountBalance', account);
    return BigInt(balance.value.amount);
  }

  async waitUntilConfirmed(signature: string): Promise<void> {
    const deadline = Date.now() + CONFIRMED_TIMEOUT_MS;
    while (Date.now() < deadline) {
      const { value } = await this.call<{ value: ({ confirmationStatus: string } | null)[] }>('getSignatureStatuses', [signature]);
      if (['confirmed', 'finalized'].includes(value[0]?.confirmationStatus ?? '')) return;
      await new Promise((resolve) => setTimeout(resolve, CONFIRMED_EVERY_MS));
    }
    throw new Error(`The chain did not confirm ${signature}`);
  }

  /** Pays any amount on chain with the bill's memo and references, including amounts that the API would not prepare. */
  async pay(payer: KeyPairSigner, bill: Bill, units: bigint): Promise<string> {
    const { value } = await this.call<{ value: { blockhash: string; lastValidBlockHeight: number } }>('getLatestBlockhash');
    const mint = address(bill.mint);
    const destination = address(await deriveTokenAccount(bill.recipient, mint));
    const source = address(await deriveTokenAccount(payer.address, mint));
    const transfer = getTransferCheckedInstruction({ source, mint, destination, authority: payer, amount: units, decimals: bill.decimals });
    const references = bill.references.map((reference) => ({ address: address(reference), role: AccountRole.READONLY }));
    const message = pipe(
      createTransactionMessage({ version: 0 }),
      (m) => setTransactionMessageFeePayerSigner(payer, m),
      (m) =>
        setTransactionMessageLifetimeUsingBlockhash(
          { blockhash: value.blockhash as Blockhash, lastValidBlockHeight: BigInt(value.lastValidBlockHeight) },
          m,
        ),
      (m) =>
        appendTransactionMessageInstructions(
          [
            getCreateAssociatedTokenIdempotentInstruction({ payer, ata: destination, owner: address(bill.recipient), mint }),
            getAddMemoInstruction({ memo: bill.memo }, { programAddress: MEMO_PROGRAM }),
            { ...transfer, accounts: [...transfer.accounts, ...references] },
          ],
          m,
        ),
    );
    const wire = getBase64EncodedWireTransaction(await signTransactionMessageWithSigners(message));
    return this.send(wire);
  }

  send(wire: string): Promise<string> {
    return this.call('sendTransaction', wire, { encoding: 'base64' });
  }
}

export function preview(transaction: string): Preview {
  const { messageBytes } = getTransactionDecoder().decode(getBase64Encoder().encode(transaction));
  const message = decompileTransactionMessage(getCompiledTransactionMessageDecoder().decode(messageBytes));
  const memos = message.instructions.filter(({ programAddress }) => programAddress === MEMO_PROGRAM);
  const transfers = message.instructions.filter(
    ({ programAddress, data }) => programAddress === TOKEN_PROGRAM_ADDRESS && data?.[0] === TRANSFER_CHECKED,
  );
  const [transfer] = transfers;
  if (transfers.length !== 1 || memos.length !== 1 || !transfer?.data) throw new Error('The transaction is not one transfer with one memo');
  return {
    feePayer: message.feePayer.address,
    units: Buffer.from(transfer.data).readBigUInt64LE(1),
    destination: transfer.accounts?.[2]?.address ?? '',
    memo: Buffer.from(memos[0]?.data ?? []).toString('utf8'),
  };
}

export async function sign(payer: KeyPairSigner, transaction: string): Promise<string> {
  const unsigned = getTransactionDecoder().decode(getBase64Encoder().encode(transaction));
  const signed = await partiallySignTransaction([payer.keyPair], unsigned);
  return getBase64Decoder().decode(getTransactionEncoder().encode(signed));
}

export async function deriveTokenAccount(owner: string, mint: string): Promise<string> {
  const [account] = await findAssociatedTokenPda({ owner: address(owner), mint: address(mint), tokenProgram: TOKEN_PROGRAM_ADDRESS });
  return account;
}
