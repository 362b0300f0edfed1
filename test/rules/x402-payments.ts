import {
  AccountRole,
  type AddressesByLookupTableAddress,
  address,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  compressTransactionMessageUsingAddressLookupTables,
  createTransactionMessage,
  decompileTransactionMessage,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  type Instruction,
  type KeyPairSigner,
  partiallySignTransaction,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
  signBytes,
} from '@solana/kit';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import { keyRing } from '#core/crypto.ts';
import { base58, base64, base64url } from '#core/encoding.ts';
import type { ExactRules } from '#protocols/x402/exact.ts';
import type { PaymentPayload, PaymentRequirements } from '#protocols/x402/wire.ts';
import { COMPUTE_BUDGET_PROGRAM, LIGHTHOUSE_PROGRAM, MEMO_PROGRAM, NETWORKS } from '#solana/assets.ts';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';
import { TestChain, USDC } from '../support/chain/chain.ts';
import { testEnv } from '../support/runner/env.ts';

export const key = (fill: number): string => base58.encode(new Uint8Array(32).fill(fill));
const operatorKey = (fill: number) => keyRing(base64url.encode(new Uint8Array(32).fill(fill)))[0]!;
export const [OPERATOR, SECOND_OPERATOR] = [operatorKey(21), operatorKey(22)];
export const FEE_PAYER = base58.encode(OPERATOR.publicKey);
export const SECOND_FEE_PAYER = base58.encode(SECOND_OPERATOR.publicKey);
export const RULES: ExactRules = { feePayers: [FEE_PAYER, SECOND_FEE_PAYER], mints: [USDC] };
export const MEMO = 'svc:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
export const PRICE = 250_000n;
const BLOCKHASH = key(9);

export const chain = new TestChain(`${testEnv.TEST_CHAIN_URL}/x402-exact`);

export interface Rig {
  payer: KeyPairSigner;
  stranger: KeyPairSigner;
  merchant: string;
  requirements: PaymentRequirements;
  payload: PaymentPayload;
  instructions: readonly Instruction[];
}

/** Payload as sent by `@x402/fetch`, with the chosen requirement echoed. */
export async function payWith(signer: KeyPairSigner, accepted: PaymentRequirements): Promise<PaymentPayload> {
  const client = new ExactSvmScheme(signer, { rpcUrl: chain.url });
  const made = await client.createPaymentPayload(2, accepted as Parameters<typeof client.createPaymentPayload>[1]);
  return { x402Version: 2, accepted, payload: made.payload };
}

export async function newRig(): Promise<Rig> {
  const [payer, stranger, merchant] = [await chain.wallet(), await generateKeyPairSigner(), (await generateKeyPairSigner()).address];
  const requirements: PaymentRequirements = {
    scheme: 'exact',
    network: NETWORKS.devnet.caip2,
    asset: USDC,
    amount: PRICE.toString(),
    payTo: merchant,
    maxTimeoutSeconds: 300,
    extra: { feePayer: FEE_PAYER, memo: MEMO },
  };
  const hinted = { ...requirements, extra: { ...requirements.extra, recentBlockhash: BLOCKHASH } };
  const payload = { ...(await payWith(payer, hinted)), accepted: requirements };
  return { payer, stranger, merchant, requirements, payload, instructions: instructionsOf(payload) };
}

export const wireOf = (payload: PaymentPayload): Uint8Array => base64.decode(payload.payload.transaction as string);
export const messageOf = (wire: Uint8Array): Uint8Array => Uint8Array.from(getTransactionDecoder().decode(wire).messageBytes);
const instructionsOf = (payload: PaymentPayload) =>
  decompileTransactionMessage(getCompiledTransactionMessageDecoder().decode(messageOf(wireOf(payload)))).instructions;

export interface Draft {
  instructions: readonly Instruction[];
  feePayer?: string;
  version?: 0 | 'legacy';
  signers?: KeyPairSigner[];
  tables?: AddressesByLookupTableAddress;
}

/** Signs a transaction of these instructions as the payer, like a careless or hostile client. */
export async function craft(rig: Rig, draft: Draft): Promise<string> {
  const { instructions, feePayer = FEE_PAYER, version = 0, signers = [rig.payer], tables } = draft;
  const lifetime = { blockhash: BLOCKHASH as Blockhash, lastValidBlockHeight: 0n };
  const from = <M extends ReturnType<typeof createTransactionMessage<0 | 'legacy'>>>(message: M) =>
    pipe(
      message,
      (m) => setTransactionMessageFeePayer(address(feePayer), m),
      (m) => setTransactionMessageLifetimeUsingBlockhash(lifetime, m),
      (m) => appendTransactionMessageInstructions([...instructions], m),
    );
  const compiled = tables
    ? compileTransaction(compressTransactionMessageUsingAddressLookupTables(from(createTransactionMessage({ version: 0 })), tables))
    : compileTransaction(from(createTransactionMessage({ version })));
  const needed = signers.filter(({ address }) => address in compiled.signatures).map(({ keyPair }) => keyPair);
  return getBase64EncodedWireTransaction(await partiallySignTransaction(needed, compiled));
}

/** Signs arbitrary bytes as a message of two signers, with the payer's signature. */
export async function signedRaw(rig: Rig, message: Uint8Array): Promise<string> {
  const signature = await signBytes(rig.payer.keyPair.privateKey, message);
  return base64.encode(Uint8Array.from([2, ...new Uint8Array(64), ...signature, ...message]));
}

export const withTransaction = (rig: Rig, transaction: unknown): PaymentPayload => ({ ...rig.payload, payload: { transaction } });

export const lighthouse = (...accounts: string[]): Instruction => ({
  programAddress: address(LIGHTHOUSE_PROGRAM),
  accounts: accounts.map((account) => ({ address: address(account), role: AccountRole.READONLY })),
  data: Uint8Array.of(5, 0, 1, 2),
});
export const foreign = (program = key(13)): Instruction => ({ programAddress: address(program), accounts: [], data: Uint8Array.of(1) });
export const memoOf = (data: Uint8Array, program = MEMO_PROGRAM): Instruction => ({ programAddress: address(program), accounts: [], data });

export const budget = (...data: number[]): Instruction => ({
  programAddress: address(COMPUTE_BUDGET_PROGRAM),
  data: Uint8Array.from(data),
});
export const u = (value: bigint, bytes: number): number[] =>
  Array.from({ length: bytes }, (_, i) => Number((value >> BigInt(8 * i)) & 255n));
export const unitLimit = (units: bigint) => budget(2, ...u(units, 4));
export const unitPrice = (microLamports: bigint) => budget(3, ...u(microLamports, 8));
export const budgeted = ([, , ...rest]: readonly Instruction[], units: bigint, microLamports: bigint): Instruction[] => [
  unitLimit(units),
  unitPrice(microLamports),
  ...rest,
];
export const checked = (units: bigint) => Uint8Array.from([12, ...u(units, 8), 6]);

export interface TransferChange {
  source?: string;
  mint?: string;
  destination?: string;
  authority?: string;
  authorityRole?: AccountRole;
  program?: string;
  data?: Uint8Array;
  more?: string[];
}

export function transferLike(rig: Rig, change: TransferChange): Instruction {
  const original = rig.instructions[2]!;
  const [source, mint, destination, authority] = original.accounts!.map((account) => account.address as string) as [string, ...string[]];
  const account = (text: string, role: AccountRole) => ({ address: address(text), role });
  return {
    programAddress: address(change.program ?? original.programAddress),
    accounts: [
      account(change.source ?? source, AccountRole.WRITABLE),
      account(change.mint ?? mint!, AccountRole.READONLY),
      account(change.destination ?? destination!, AccountRole.WRITABLE),
      account(change.authority ?? authority!, change.authorityRole ?? AccountRole.READONLY_SIGNER),
      ...(change.more ?? []).map((text) => account(text, AccountRole.READONLY)),
    ],
    data: change.data ?? original.data,
  };
}

export const findAta = associatedTokenAccount;
