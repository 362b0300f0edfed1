import {
  AccountRole,
  type AddressesByLookupTableAddress,
  address,
  appendTransactionMessageInstructions,
  type Blockhash,
  compressTransactionMessageUsingAddressLookupTables,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase64Decoder,
  getBase64EncodedWireTransaction,
  getBase64Encoder,
  getTransactionDecoder,
  getTransactionEncoder,
  type Instruction,
  type KeyPairSigner,
  partiallySignTransaction,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit';
import { getAddMemoInstruction } from '@solana-program/memo';
import { getTransferSolInstruction } from '@solana-program/system';
import { getCreateAssociatedTokenIdempotentInstruction, getTransferCheckedInstruction } from '@solana-program/token';
import { MEMO_PROGRAM, NETWORKS } from '#solana/assets.ts';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';
import { callChain } from '../../../local/chain/client.ts';

export const USDC = NETWORKS.devnet.usdcMint;

export interface Bill {
  recipient: string;
  memo: string;
  price: { base_units: string; asset?: string };
  fee?: { recipient: string; base_units: string };
  references: string[];
}

export interface PayOptions {
  units?: bigint;
  memos?: string[];
  recipient?: string;
  mint?: string;
  decimals?: number;
  extra?: Instruction[];
  skipPreflight?: boolean;
  /** Addresses of a lookup table through which the transaction is sent. */
  lookupTable?: string[];
}

export type RawAccount = [address: string, owner: string, data: string];
const SYSTEM_PROGRAM = '11111111111111111111111111111111';

export class TestChain {
  readonly url: string;
  constructor(url: string) {
    this.url = url;
  }

  call<T>(method: string, ...params: unknown[]): Promise<T> {
    return callChain<T>(this.url, method, params);
  }

  async wallet(usdc: bigint = 1_000_000_000n): Promise<KeyPairSigner> {
    const signer = await generateKeyPairSigner();
    await this.call('local_fundSol', signer.address, '1000000000');
    if (usdc > 0n) await this.call('local_fundUsdc', signer.address, usdc.toString());
    return signer;
  }

  fault(fault: {
    kind: string;
    method?: string;
    times?: number;
    signature?: string;
    ms?: number;
    slot?: number;
    code?: number;
    message?: string;
  }): Promise<unknown> {
    return this.call('local_fault', fault);
  }

  /** Another node of the same chain, with faults of its own. */
  node(name: string): TestChain {
    return new TestChain(`${this.url}/${name}`);
  }

  async #send(payer: KeyPairSigner, instructions: Instruction[], { skipPreflight = false, lookupTable }: PayOptions = {}): Promise<string> {
    const tables = lookupTable && (await this.#lookupTable(lookupTable));
    const wire = await signed(payer, instructions, await this.#lifetime(), tables);
    return this.call('sendTransaction', wire, { encoding: 'base64', skipPreflight });
  }

  send(payer: KeyPairSigner, instructions: Instruction[]): Promise<string> {
    return this.#send(payer, instructions);
  }

  async held(wallet: string): Promise<bigint> {
    const account = await associatedTokenAccount(wallet, USDC);
    return BigInt((await this.call<{ value: { amount: string } }>('getTokenAccountBalance', account)).value.amount);
  }

  /** Current accounts. A missing account has no data. */
  async accounts(addresses: readonly string[]): Promise<RawAccount[]> {
    type Answer = { value: ({ owner: string; data: [string] } | null)[] };
    const { value } = await this.call<Answer>('getMultipleAccounts', addresses, { encoding: 'base64' });
    return value.map((account, at) => [addresses[at]!, account?.owner ?? SYSTEM_PROGRAM, account?.data[0] ?? '']);
  }

  putAccounts = (accounts: readonly RawAccount[]): Promise<unknown> => this.call('local_putAccounts', accounts);

  async #lifetime(): Promise<Lifetime> {
    const { value } = await this.call<{ value: { blockhash: string; lastValidBlockHeight: number } }>('getLatestBlockhash');
    return { blockhash: value.blockhash as Blockhash, lastValidBlockHeight: BigInt(value.lastValidBlockHeight) };
  }

  async #lookupTable(addresses: string[]): Promise<AddressesByLookupTableAddress> {
    const table = (await generateKeyPairSigner()).address;
    await this.call('local_setLookupTable', table, addresses);
    return { [table]: addresses.map((entry) => address(entry)) };
  }

  /** Pays a bill as a wallet does with a Solana Pay URL. `options` introduce errors. Returns the signature. */
  async pay(payer: KeyPairSigner, bill: Bill, options: PayOptions = {}): Promise<string> {
    const mint = options.mint ?? USDC;
    const recipient = options.recipient ?? bill.recipient;
    const destination = address(await associatedTokenAccount(recipient, mint));
    const transfer = getTransferCheckedInstruction({
      source: address(await associatedTokenAccount(payer.address, mint)),
      mint: address(mint),
      destination,
      authority: payer,
      amount: options.units ?? BigInt(bill.price.base_units),
      decimals: options.decimals ?? 6,
    });
    const references = bill.references.map((reference) => ({ address: address(reference), role: AccountRole.READONLY }));
    return this.#send(
      payer,
      [
        getCreateAssociatedTokenIdempotentInstruction({ payer, ata: destination, owner: address(recipient), mint: address(mint) }),
        ...(options.memos ?? [bill.memo]).map(memoInstruction),
        ...(options.extra ?? []),
        { ...transfer, accounts: [...transfer.accounts, ...references] },
      ],
      options,
    );
  }

  /** Pays a bill in SOL as a wallet does. `isSplit` sends the service's fee as a transfer of its own. */
  async paySol(payer: KeyPairSigner, bill: Bill, options: PayOptions & { isSplit?: boolean } = {}): Promise<string> {
    const fee = options.isSplit && bill.fee ? bill.fee : null;
    const amount = options.units ?? BigInt(bill.price.base_units) - BigInt(fee?.base_units ?? 0);
    const transfer = getTransferSolInstruction({ source: payer, destination: address(options.recipient ?? bill.recipient), amount });
    const references = bill.references.map((reference) => ({ address: address(reference), role: AccountRole.READONLY }));
    return this.#send(
      payer,
      [
        ...(fee ? [getTransferSolInstruction({ source: payer, destination: address(fee.recipient), amount: BigInt(fee.base_units) })] : []),
        ...(options.memos ?? [bill.memo]).map(memoInstruction),
        ...(options.extra ?? []),
        { ...transfer, accounts: [...transfer.accounts, ...references] },
      ],
      options,
    );
  }

  tip(payer: KeyPairSigner, recipient: string, memo: string): Promise<string> {
    return this.#send(payer, [
      getTransferSolInstruction({ source: payer, destination: address(recipient), amount: 1_000_000n }),
      memoInstruction(memo),
    ]);
  }

  async landMany(payer: KeyPairSigner, memos: string[]): Promise<string[]> {
    const lifetime = await this.#lifetime();
    const wires = await Promise.all(memos.map((memo) => signed(payer, [memoInstruction(memo)], lifetime)));
    const response = await fetch(this.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(
        wires.map((wire, id) => ({ jsonrpc: '2.0', id, method: 'sendTransaction', params: [wire, { encoding: 'base64' }] })),
      ),
    });
    return ((await response.json()) as { result: string }[]).map(({ result }) => result);
  }

  /** Signs the exact message of a connect response's transaction. */
  async sign(payer: KeyPairSigner, transaction: string): Promise<string> {
    const unsigned = getTransactionDecoder().decode(getBase64Encoder().encode(transaction));
    const signed = await partiallySignTransaction([payer.keyPair], unsigned);
    return getBase64Decoder().decode(getTransactionEncoder().encode(signed));
  }
}

type Lifetime = Parameters<typeof setTransactionMessageLifetimeUsingBlockhash>[0];

async function signed(payer: KeyPairSigner, instructions: Instruction[], lifetime: Lifetime, tables?: AddressesByLookupTableAddress) {
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (m) => setTransactionMessageFeePayerSigner(payer, m),
    (m) => setTransactionMessageLifetimeUsingBlockhash(lifetime, m),
    (m) => appendTransactionMessageInstructions(instructions, m),
    (m) => (tables ? compressTransactionMessageUsingAddressLookupTables(m, tables) : m),
  );
  return getBase64EncodedWireTransaction(await signTransactionMessageWithSigners(message));
}

export const memoInstruction = (memo: string): Instruction => getAddMemoInstruction({ memo }, { programAddress: address(MEMO_PROGRAM) });
