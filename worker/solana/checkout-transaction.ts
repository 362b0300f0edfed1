import {
  AccountRole,
  type Address,
  address,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  createNoopSigner,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  type Instruction as KitInstruction,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import { getSetComputeUnitLimitInstruction, getSetComputeUnitPriceInstruction } from '@solana-program/compute-budget';
import { getAddMemoInstruction } from '@solana-program/memo';
import { getTransferSolInstruction } from '@solana-program/system';
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getTransferCheckedInstruction,
} from '@solana-program/token';
import { verifyEd25519 } from '#core/crypto.ts';
import { base58 } from '#core/encoding.ts';
import { err, ok, type Result } from '#core/errors.ts';
import { ATA_PROGRAM, COMPUTE_BUDGET_PROGRAM, LIGHTHOUSE_PROGRAM, MEMO_PROGRAM, NATIVE_MINT, TOKEN_PROGRAM } from './assets.ts';
import {
  type Instruction,
  isNonceAdvance,
  parseAtaCreation,
  parseLamportTransfer,
  parseMemo,
  parseTokenTransfer,
  svcMemos,
} from './transaction.ts';

/** Leg of a checkout: `units` of the mint to the wallet's associated token account, or lamports to the wallet itself. */
interface Leg {
  wallet: string;
  /** Equals the wallet if lamports are paid. */
  ata: string;
  units: bigint;
  /** False if the buyer has to create the account first. Lamports create a wallet's account on arrival. */
  ataExists: boolean;
}

export interface CheckoutTerms {
  memo: string;
  mint: string;
  decimals: number;
  /** Read-only keys on the merchant's transfer, in order: the payment's reference, a reference of the service. */
  references: readonly string[];
  merchant: Leg;
  fee: Leg | null;
}

export interface Lifetime {
  blockhash: string;
  lastValidBlockHeight: bigint;
}

const COMPUTE_UNITS_BASE = 40_000;
const COMPUTE_UNITS_PER_ATA = 35_000;
const COMPUTE_PRICE_MICRO_LAMPORTS = 10_000n;

/** Receiving account of a wallet: its associated token account, or for lamports the wallet itself. */
export const deriveAccount = async (wallet: string, mint: string): Promise<string> =>
  mint === NATIVE_MINT ? wallet : associatedTokenAccount(wallet, mint);

export async function associatedTokenAccount(wallet: string, mint: string): Promise<string> {
  const [ata] = await findAssociatedTokenPda({ owner: address(wallet), mint: address(mint), tokenProgram: address(TOKEN_PROGRAM) });
  return ata;
}

/**
 * Builds the transaction for the buyer to sign: compute budget, missing token accounts, fee, then memo and transfer adjacent at the end
 * (Solana Pay). v0, base64 wire form, buyer as fee payer, unsigned.
 */
export async function buildCheckoutTransaction(terms: CheckoutTerms, buyer: string, lifetime: Lifetime): Promise<string> {
  const { payment, fee, missing } = terms.mint === NATIVE_MINT ? lamportTransfers(terms, buyer) : await tokenTransfers(terms, buyer);
  const instructions: KitInstruction[] = [
    getSetComputeUnitLimitInstruction({ units: COMPUTE_UNITS_BASE + missing.length * COMPUTE_UNITS_PER_ATA }),
    getSetComputeUnitPriceInstruction({ microLamports: COMPUTE_PRICE_MICRO_LAMPORTS }),
    ...missing,
    ...(fee ? [fee] : []),
    getAddMemoInstruction({ memo: terms.memo }, { programAddress: address(MEMO_PROGRAM) }),
    withReferences(payment, terms.references),
  ];
  return buildUnsigned(buyer, instructions, lifetime);
}

interface Transfers {
  payment: KitInstruction;
  fee: KitInstruction | null;
  missing: KitInstruction[];
}

function lamportTransfers({ merchant, fee }: CheckoutTerms, buyer: string): Transfers {
  const source = createNoopSigner(address(buyer));
  const transfer = (leg: Leg) => getTransferSolInstruction({ source, destination: address(leg.wallet), amount: leg.units });
  return { payment: transfer(merchant), fee: fee && transfer(fee), missing: [] };
}

async function tokenTransfers(terms: CheckoutTerms, buyer: string): Promise<Transfers> {
  const payer = createNoopSigner(address(buyer));
  const mint = address(terms.mint);
  const source = address(await associatedTokenAccount(buyer, terms.mint));
  const legs = terms.fee ? [terms.merchant, terms.fee] : [terms.merchant];
  const missing = legs.filter((leg) => !leg.ataExists);
  const transfer = (leg: Leg) =>
    getTransferCheckedInstruction({
      source,
      mint,
      destination: address(leg.ata),
      authority: payer,
      amount: leg.units,
      decimals: terms.decimals,
    });
  return {
    payment: transfer(terms.merchant),
    fee: terms.fee && transfer(terms.fee),
    missing: missing.map((leg) =>
      getCreateAssociatedTokenIdempotentInstruction({ payer, ata: address(leg.ata), owner: address(leg.wallet), mint }),
    ),
  };
}

export function buildUnsigned(feePayer: string, instructions: KitInstruction[], lifetime: Lifetime): string {
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (m) => setTransactionMessageFeePayer(address(feePayer), m),
    (m) =>
      setTransactionMessageLifetimeUsingBlockhash(
        { blockhash: lifetime.blockhash as Blockhash, lastValidBlockHeight: lifetime.lastValidBlockHeight },
        m,
      ),
    (m) => appendTransactionMessageInstructions(instructions, m),
  );
  return getBase64EncodedWireTransaction(compileTransaction(message));
}

export async function buildAtaTransaction(wallet: string, mint: string, lifetime: Lifetime): Promise<string> {
  const payer = createNoopSigner(address(wallet));
  const ata = address(await associatedTokenAccount(wallet, mint));
  return buildUnsigned(
    wallet,
    [getCreateAssociatedTokenIdempotentInstruction({ payer, ata, owner: payer.address, mint: address(mint) })],
    lifetime,
  );
}

export function withReferences(instruction: KitInstruction, references: readonly string[]): KitInstruction {
  const keys = references.map((reference) => ({ address: address(reference) as Address, role: AccountRole.READONLY }));
  return { ...instruction, accounts: [...(instruction.accounts ?? []), ...keys] };
}

type PreparedProblem =
  | 'undecodable'
  | 'lookup_tables'
  | 'unsigned'
  | 'durable_nonce'
  | 'memo'
  | 'transfer'
  | 'fee'
  | 'reference'
  | 'foreign_instruction';

/**
 * Verifies that a signed transaction is the prepared one. Wallets may add protection (Lighthouse, compute budget). Any other addition is
 * refused, because the service would broadcast it. Returns the signature on chain.
 */
export function checkPreparedTransaction(
  wire: Uint8Array,
  terms: CheckoutTerms,
): Result<{ signature: string; payer: string }, PreparedProblem> {
  const decoded = readSigned(wire);
  if (!decoded.ok) return decoded;
  const { instructions, signature, payer } = decoded.value;
  const problem = instructions.some(isNonceAdvance) ? 'durable_nonce' : problemOf(instructions, terms);
  return problem ? err(problem) : ok({ signature, payer });
}

/**
 * Decodes a fully signed transaction without lookup tables. Returns its instructions and its signature on chain, which is the fee payer's.
 */
export function readSigned(
  wire: Uint8Array,
): Result<{ instructions: Instruction[]; signature: string; payer: string }, 'undecodable' | 'lookup_tables' | 'unsigned'> {
  let transaction: ReturnType<ReturnType<typeof getTransactionDecoder>['decode']>;
  let message: ReturnType<ReturnType<typeof getCompiledTransactionMessageDecoder>['decode']>;
  try {
    transaction = getTransactionDecoder().decode(wire);
    message = getCompiledTransactionMessageDecoder().decode(transaction.messageBytes);
  } catch {
    return err('undecodable');
  }
  if (message.version !== 0 && message.version !== 'legacy') return err('undecodable');
  if (message.version === 0 && (message.addressTableLookups?.length ?? 0) > 0) return err('lookup_tables');
  const signatures = Object.entries(transaction.signatures);
  const first = signatures[0]?.[1];
  if (!first) return err('unsigned');
  for (const [signer, bytes] of signatures) {
    if (!bytes || !verifyEd25519(Uint8Array.from(bytes), Uint8Array.from(transaction.messageBytes), base58.decode(signer)))
      return err('unsigned');
  }
  const keys = message.staticAccounts;
  const instructions = message.instructions.map((ix) => ({
    programId: keys[ix.programAddressIndex] as string,
    accounts: (ix.accountIndices ?? []).map((index) => keys[index] as string),
    data: Uint8Array.from(ix.data ?? []),
  }));
  return ok({ instructions, signature: base58.encode(Uint8Array.from(first)), payer: keys[0] as string });
}

function problemOf(instructions: Instruction[], terms: CheckoutTerms): PreparedProblem | null {
  const legs = terms.fee ? [terms.merchant, terms.fee] : [terms.merchant];
  // Transfers of another asset are refused, because the service must not broadcast them.
  const parseTransfer = terms.mint === NATIVE_MINT ? parseLamportTransfer : parseTokenTransfer;
  const allowed = (ix: Instruction): boolean => {
    const creation = parseAtaCreation(ix);
    if (ix.programId === ATA_PROGRAM)
      return creation !== null && creation.mint === terms.mint && legs.some((leg) => leg.ata === creation.ata);
    return (
      ix.programId === COMPUTE_BUDGET_PROGRAM || ix.programId === LIGHTHOUSE_PROGRAM || parseMemo(ix) !== null || parseTransfer(ix) !== null
    );
  };
  if (!instructions.every(allowed)) return 'foreign_instruction';
  const memos = instructions.map(parseMemo).filter((memo) => memo !== null);
  if (svcMemos(memos).length !== 1 || !memos.includes(terms.memo)) return 'memo';
  const transfers = instructions.map(parseTransfer).filter((transfer) => transfer !== null);
  const pays = (leg: Leg) =>
    transfers.filter((t) => t.destination === leg.ata && t.mint === terms.mint && t.units === leg.units).length === 1;
  if (!pays(terms.merchant) || transfers.length !== legs.length) return 'transfer';
  if (terms.fee && !pays(terms.fee)) return 'fee';
  const paying = instructions.find((ix) => parseTransfer(ix)?.destination === terms.merchant.ata);
  return terms.references.every((reference) => paying?.accounts.includes(reference)) ? null : 'reference';
}
