/**
 * Scheme `exact` on Solana: verifies that a transaction pays the requirements and that the fee payer can sign it safely. Steps 1 to 18 of
 * worker/protocols/README.md#x402-exact-on-solana in order, with the reference's reasons. Step 19, the simulation, needs a network and is
 * the caller's. Pure.
 * @module
 */

import { equalBytes } from '#core/crypto.ts';
import { base58, base58Bytes, utf8 } from '#core/encoding.ts';
import { assert, err, ok, type Result } from '#core/errors.ts';
import { COMPUTE_BUDGET_PROGRAM, LIGHTHOUSE_PROGRAM, MEMO_PROGRAM } from '#solana/assets.ts';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';
import { decodeSignedTransaction, othersSigned } from '#solana/signed/transaction.ts';
import { type Instruction, parseMemo, parseTokenTransfer, type TokenTransfer } from '#solana/transaction.ts';
import type { PaymentPayload, PaymentRequirements } from './wire.ts';

export interface ExactRules {
  feePayers: readonly string[];
  /** Accepted mints of the classic token program. All others are refused, Token-2022 by its program id. */
  mints: readonly string[];
}

export interface VerifiedTransaction {
  /** Exact bytes received. They are signed and sent, never compiled again. (worker/protocols/README.md#traps) */
  wire: Uint8Array;
  messageBytes: Uint8Array;
  /** Indexed by slot. Slot 0 belongs to the fee payer and holds the received bytes. */
  signatures: readonly Uint8Array[];
  feePayer: string;
  payer: string;
  source: string;
  amount: bigint;
  /** Text of the only memo. Empty if none was required and the transaction has none or several. */
  memo: string;
  blockhash: string;
}

type Rule =
  | 'unsupported_scheme'
  | 'network_mismatch'
  | 'payload_missing_fee_payer'
  | 'fee_payer_not_managed_by_facilitator'
  | 'payload_transaction_could_not_be_decoded'
  | 'payload_excessive_signers'
  | 'fee_payer_mismatch'
  | 'payload_signature_invalid'
  | 'smart_wallet_alt_resolution_not_available'
  | 'payload_transaction_instructions_length'
  | 'payload_transaction_instructions_compute_limit_instruction'
  | typeof LIMIT_TOO_HIGH
  | 'payload_transaction_instructions_compute_price_instruction'
  | typeof PRICE_TOO_HIGH
  | 'payload_no_transfer_instruction'
  | 'payload_transaction_fee_payer_transferring_funds'
  | 'payload_mint_mismatch'
  | 'payload_recipient_mismatch'
  | 'payload_amount_mismatch'
  | (typeof UNKNOWN_INSTRUCTION)[number]
  | 'payload_memo_count'
  | 'payload_memo_mismatch'
  | 'payload_transaction_fee_payer_included_in_instruction_accounts';
type ExactReason = `invalid_exact_svm_${Rule}`;
type ExactVerdict = { ok: true; value: VerifiedTransaction } | { ok: false; reason: ExactReason; payer?: string };

const UNKNOWN_INSTRUCTION = [
  'payload_unknown_fourth_instruction',
  'payload_unknown_fifth_instruction',
  'payload_unknown_sixth_instruction',
  'payload_unknown_seventh_instruction',
] as const;
const LIMIT_TOO_HIGH = 'payload_transaction_instructions_compute_limit_instruction_too_high';
const PRICE_TOO_HIGH = 'payload_transaction_instructions_compute_price_instruction_too_high';
const SIGNATURES_MAX = 2;
const INSTRUCTIONS_MIN = 3;
const INSTRUCTIONS_MAX = 7;
const PRIORITY_FEE_LAMPORTS_MAX = 20_000;
/**
 * Caps of the compute budget, as `extra` of an offer names them. Units and price are the reference's. Both at once would cost the service
 * 2,000,000 lamports, so their product has a cap too.
 */
export const COMPUTE_CAPS = {
  maxComputeUnits: 400_000,
  maxComputeUnitPrice: 5_000_000,
  maxPriorityFeeLamports: PRIORITY_FEE_LAMPORTS_MAX,
} as const;
const MICRO_LAMPORTS = 1_000_000n;
/** Maximum cost of a payment, landed or failed: two signatures of 5,000 lamports and the priority fee under the caps. */
export const FEE_LAMPORTS_MAX = 10_000 + PRIORITY_FEE_LAMPORTS_MAX;

const refuse = (rule: Rule, payer?: string): ExactVerdict => ({
  ok: false,
  reason: `invalid_exact_svm_${rule}`,
  ...(payer === undefined ? {} : { payer }),
});

export async function verifyExact(payload: PaymentPayload, requirements: PaymentRequirements, rules: ExactRules): Promise<ExactVerdict> {
  // Steps 1 to 4: scheme, network and fee payer.
  const { accepted } = payload;
  if (accepted.scheme !== 'exact' || requirements.scheme !== 'exact') return refuse('unsupported_scheme');
  if (accepted.network !== requirements.network) return refuse('network_mismatch');
  const feePayer = requirements.extra?.feePayer;
  if (typeof feePayer !== 'string' || feePayer === '') return refuse('payload_missing_fee_payer');
  if (!rules.feePayers.includes(feePayer)) return refuse('fee_payer_not_managed_by_facilitator');

  // Steps 5 to 8: signatures (7: every required signature except the fee payer's). Lookup tables are refused, so no account has to be
  // resolved or trusted.
  const decoded = decodeSignedTransaction(payload.payload.transaction);
  if (!decoded) return refuse('payload_transaction_could_not_be_decoded');
  const { instructions, accounts, signerCount } = decoded;
  if (signerCount > SIGNATURES_MAX) return refuse('payload_excessive_signers');
  if (accounts[0] !== feePayer) return refuse('fee_payer_mismatch');
  if (!othersSigned(decoded)) return refuse('payload_signature_invalid');
  if (decoded.usesLookupTables) return refuse('smart_wallet_alt_resolution_not_available');

  if (instructions.length < INSTRUCTIONS_MIN || instructions.length > INSTRUCTIONS_MAX)
    return refuse('payload_transaction_instructions_length');
  const [limit, price, paying, ...optional] = instructions as [Instruction, Instruction, Instruction, ...Instruction[]];
  const cost = verifyComputeBudget(limit, price);
  if (cost) return refuse(cost);

  const transfer = paying.data[0] === TRANSFER_CHECKED ? parseTokenTransfer(paying) : null;
  if (!transfer) return refuse('payload_no_transfer_instruction');
  const payer = transfer.authority;
  const mismatch = await verifyTransfer(transfer, requirements, rules);
  if (mismatch) return refuse(mismatch, payer);

  const unknown = optional.findIndex(({ programId }) => programId !== LIGHTHOUSE_PROGRAM && programId !== MEMO_PROGRAM);
  if (unknown >= 0) return refuse(UNKNOWN_INSTRUCTION[unknown]!, payer);
  const memos = optional.filter(({ programId }) => programId === MEMO_PROGRAM);
  const memo = verifyMemo(memos, requirements.extra?.memo);
  if (!memo.ok) return refuse(memo.reason, payer);

  // Rules of the written specification: no instruction names a fee payer, and the payer is the only other signer.
  if (instructions.some((instruction) => rules.feePayers.some((key) => instruction.accounts.includes(key))))
    return refuse('payload_transaction_fee_payer_included_in_instruction_accounts', payer);
  if (!accounts.slice(1, signerCount).includes(payer)) return refuse('payload_signature_invalid', payer);

  const { wire, messageBytes, signatures, blockhash } = decoded;
  const { source, units: amount } = transfer;
  return ok({ wire, messageBytes, signatures, feePayer, payer, source, amount, memo: memo.value, blockhash });
}

const SET_COMPUTE_UNIT_LIMIT = 2;
const SET_COMPUTE_UNIT_PRICE = 3;
const TRANSFER_CHECKED = 12;

/** Steps 10 and 11, with caps. The chain rounds the priority fee up to lamports. */
function verifyComputeBudget(limit: Instruction, price: Instruction): Rule | null {
  const view = ({ data }: Instruction) => new DataView(data.buffer, data.byteOffset, data.byteLength);
  const is = ({ programId, data }: Instruction, kind: number, length: number) =>
    programId === COMPUTE_BUDGET_PROGRAM && data[0] === kind && data.length >= length;
  if (!is(limit, SET_COMPUTE_UNIT_LIMIT, 5)) return 'payload_transaction_instructions_compute_limit_instruction';
  const units = view(limit).getUint32(1, true);
  if (units > COMPUTE_CAPS.maxComputeUnits) return LIMIT_TOO_HIGH;
  if (!is(price, SET_COMPUTE_UNIT_PRICE, 9)) return 'payload_transaction_instructions_compute_price_instruction';
  const microLamports = view(price).getBigUint64(1, true);
  if (microLamports > BigInt(COMPUTE_CAPS.maxComputeUnitPrice)) return PRICE_TOO_HIGH;
  return BigInt(units) * microLamports > BigInt(COMPUTE_CAPS.maxPriorityFeeLamports) * MICRO_LAMPORTS ? PRICE_TOO_HIGH : null;
}

/** Returns the caps for `meta` of a refusal by one of them. */
export const exceededCaps = (reason: string): { limits?: typeof COMPUTE_CAPS } =>
  reason === `invalid_exact_svm_${LIMIT_TOO_HIGH}` || reason === `invalid_exact_svm_${PRICE_TOO_HIGH}` ? { limits: COMPUTE_CAPS } : {};

/** Steps 13 to 16. The amount must be exact, an overpayment is refused. (worker/protocols/README.md#x402-exact-on-solana) */
async function verifyTransfer(transfer: TokenTransfer, requirements: PaymentRequirements, rules: ExactRules): Promise<Rule | null> {
  const { asset, payTo, amount } = requirements;
  if (rules.feePayers.includes(transfer.authority)) return 'payload_transaction_fee_payer_transferring_funds';
  if (transfer.mint !== asset || !rules.mints.includes(asset)) return 'payload_mint_mismatch';
  const ours = await Promise.all(rules.feePayers.map((key) => associatedTokenAccount(key, asset)));
  if (ours.includes(transfer.source)) return 'payload_transaction_fee_payer_transferring_funds';
  if (!base58Bytes(payTo, 32) || transfer.destination !== (await associatedTokenAccount(payTo, asset))) return 'payload_recipient_mismatch';
  // A transfer from an account to itself pays nothing.
  if (transfer.source === transfer.destination) return 'payload_recipient_mismatch';
  return /^[1-9][0-9]{0,19}$/.test(amount) && transfer.units === BigInt(amount) ? null : 'payload_amount_mismatch';
}

/** Step 18, on bytes: a decoder could make different texts equal. */
function verifyMemo(memos: Instruction[], expected: unknown): Result<string, 'payload_memo_count' | 'payload_memo_mismatch'> {
  const [memo] = memos;
  const isOnly = memo !== undefined && memos.length === 1;
  if (expected === undefined || expected === null || expected === '') return ok(isOnly ? (parseMemo(memo) ?? '') : '');
  if (!isOnly) return err('payload_memo_count');
  return typeof expected === 'string' && equalBytes(memo.data, utf8(expected)) ? ok(expected) : err('payload_memo_mismatch');
}

/**
 * Signs the exact bytes received as the fee payer and overwrites slot 0. The transaction is then complete, and its signature is known
 * before it is sent.
 */
export function coSign(
  verified: VerifiedTransaction,
  signer: { publicKey: Uint8Array; sign(message: Uint8Array): Uint8Array },
): { wire: Uint8Array; txSignature: string } {
  assert(base58.encode(signer.publicKey) === verified.feePayer, 'the fee payer signs for itself');
  const signature = signer.sign(verified.messageBytes);
  const wire = verified.wire.slice();
  wire.set(signature, 1);
  return { wire, txSignature: base58.encode(signature) };
}
