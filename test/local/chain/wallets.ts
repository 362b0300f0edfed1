import {
  AccountRole,
  type Address,
  appendTransactionMessageInstructions,
  type Blockhash,
  createSolanaRpc,
  createTransactionMessage,
  devnet,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  type Instruction,
  type KeyPairSigner,
  type Lamports,
  pipe,
  type Rpc,
  type Signature,
  type SolanaRpcApi,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit';
import { getAddMemoInstruction } from '@solana-program/memo';
import { getTransferSolInstruction } from '@solana-program/system';
import { findAssociatedTokenPda, getTransferCheckedInstruction, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type ChainServer, startChainServer } from '../../../local/chain/rpc/server.ts';

export const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU' as Address;
/** Memo program of wallets. The builder's default is a newer one that is not deployed here. */
export const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr' as Address;
export const SOL = 1_000_000_000n;

/** Runs one server per test file and a new chain for each test. */
export function withChain(use: (chain: TestChain, server: ChainServer) => void): void {
  let server: ChainServer;
  beforeAll(async () => {
    server = await startChainServer({ port: 0 });
  });
  afterAll(() => server.close());
  beforeEach(() => use(openChain(server), server));
}

/** Chain under test: the unmodified kit client, and raw calls for local methods. */
export class TestChain {
  readonly url: string;
  readonly rpc: Rpc<SolanaRpcApi>;

  constructor(url: string) {
    this.url = url;
    this.rpc = createSolanaRpc(devnet(url));
  }

  async call(method: string, ...params: unknown[]): Promise<RawResponse> {
    return (await (await this.post({ jsonrpc: '2.0', id: 1, method, params })).json()) as RawResponse;
  }

  async result<T = unknown>(method: string, ...params: unknown[]): Promise<T> {
    const { result, error } = await this.call(method, ...params);
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result as T;
  }

  post(body: unknown): Promise<Response> {
    const headers = { 'content-type': 'application/json' };
    return fetch(this.url, { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) });
  }

  async openWallet({ lamports = SOL, usdc = 0n }: { lamports?: bigint; usdc?: bigint } = {}): Promise<KeyPairSigner> {
    const wallet = await generateKeyPairSigner();
    if (lamports > 0n) await this.result('local_fundSol', wallet.address, lamports.toString());
    if (usdc > 0n) await this.result('local_fundUsdc', wallet.address, usdc.toString());
    return wallet;
  }

  async sign(payer: KeyPairSigner, instructions: Instruction[], options: { version?: 0 | 'legacy'; blockhash?: string } = {}) {
    const latest = (await this.rpc.getLatestBlockhash().send()).value;
    const blockhash = (options.blockhash ?? latest.blockhash) as Blockhash;
    const message = pipe(
      createTransactionMessage({ version: options.version ?? 'legacy' }),
      (draft) => setTransactionMessageFeePayerSigner(payer, draft),
      (draft) => setTransactionMessageLifetimeUsingBlockhash({ ...latest, blockhash }, draft),
      (draft) => appendTransactionMessageInstructions(instructions, draft),
    );
    const transaction = await signTransactionMessageWithSigners(message);
    return { wire: getBase64EncodedWireTransaction(transaction), signature: getSignatureFromTransaction(transaction), transaction };
  }

  async send(payer: KeyPairSigner, instructions: Instruction[], options: { skipPreflight?: boolean } = {}): Promise<Signature> {
    const { wire } = await this.sign(payer, instructions);
    return this.rpc.sendTransaction(wire, { encoding: 'base64', ...options }).send();
  }
}

export interface RawResponse {
  jsonrpc: string;
  id: unknown;
  result?: unknown;
  error?: { code: number; message: string; data?: Record<string, unknown> };
}

export function transferSol(source: KeyPairSigner, destination: Address, amount: bigint): Instruction {
  return getTransferSolInstruction({ source, destination, amount: amount as Lamports });
}

export function memo(text: string, programAddress: Address = MEMO_PROGRAM): Instruction {
  return getAddMemoInstruction({ memo: text }, { programAddress });
}

/** Transfers USDC between associated token accounts, with read-only reference keys. */
export async function transferUsdc(from: KeyPairSigner, to: Address, amount: bigint, references: Address[] = []): Promise<Instruction> {
  const transfer = getTransferCheckedInstruction({
    source: await deriveTokenAddress(from.address),
    mint: USDC,
    destination: await deriveTokenAddress(to),
    authority: from,
    amount,
    decimals: 6,
  });
  return { ...transfer, accounts: [...transfer.accounts, ...references.map((address) => ({ address, role: AccountRole.READONLY }))] };
}

export async function deriveTokenAddress(owner: Address): Promise<Address> {
  const [address] = await findAssociatedTokenPda({ mint: USDC, owner, tokenProgram: TOKEN_PROGRAM_ADDRESS });
  return address;
}

export async function newAddress(): Promise<Address> {
  return (await generateKeyPairSigner()).address;
}

let chainCount = 0;

export function openChain(server: ChainServer): TestChain {
  chainCount += 1;
  return new TestChain(`${server.url}/test-${chainCount}`);
}

export { type ChainServer, startChainServer };
