import type { Address } from '@solana/kit';
import { equalBytes } from '#core/crypto.ts';
import { err, ok, type Result } from '#core/errors.ts';
import { COMPUTE_BUDGET_PROGRAM, LIGHTHOUSE_PROGRAM, MEMO_PROGRAMS, TOKEN_PROGRAM } from '../../assets.ts';
import type { ChainAccount } from '../../chain.ts';
import { decodeSignedTransaction, othersSigned, type PartlySigned } from '../../signed/transaction.ts';
import type { Instruction } from '../../transaction.ts';
import { type Channel, type ChannelProgram, decodeChannel, findChannelAddress } from './channel.ts';
import { hashShares, type Share } from './distribution.ts';
import { type ChannelOpening, openChannelInstruction } from './instructions.ts';
import { parseChannelInstruction } from './parse-instruction.ts';

/**
 * Conditions for accepting a channel's vouchers: the service can seal, the merchant gets the money, and the channel stays open long enough.
 */
export interface ExpectedChannel {
  program: ChannelProgram;
  operator: string;
  mint: string;
  merchantWallet: string;
  gracePeriodSeconds: number;
  authorizedSigner: string;
  cap: bigint;
}

export type OpeningProblem =
  | 'transaction-undecodable'
  | 'lookup-tables'
  | 'fee-payer-mismatch'
  | 'signature-invalid'
  | 'foreign-instruction'
  | 'compute-budget-too-high'
  | 'open-instruction-missing'
  | 'operator-misplaced'
  | 'foreign-account'
  | ChannelProblem;
type ChannelProblem =
  | 'payee-mismatch'
  | 'mint-mismatch'
  | 'signer-mismatch'
  | 'rent-payer-mismatch'
  | 'split-mismatch'
  | 'grace-period-too-short'
  | 'invalid-deposit'
  | 'exceeds-cap';

export interface VerifiedOpening extends Pick<PartlySigned, 'wire' | 'messageBytes'> {
  channelId: Address;
  payer: Address;
  deposit: bigint;
}

const INSTRUCTIONS_MAX = 7;
const LIGHTHOUSE_MAX = 3;
/** An opening takes about 60,000 units. With both caps the cost is at most 10,000 lamports of signatures and 3,000 of priority. */
const COMPUTE_UNITS_MAX = 300_000;
const COMPUTE_PRICE_MAX_MICRO_LAMPORTS = 10_000n;

/**
 * Verifies that a transaction is the expected opening and safe to sign as fee payer (and rent payer on the current program): the operator's
 * key occurs only in its roles, and only accounts that an opening writes are writable. (Model: `verifyOpenTransaction` of `@x402/svm` 2.27)
 */
export function verifyOpening(text: unknown, expected: ExpectedChannel): Result<VerifiedOpening, OpeningProblem> {
  const { program, operator } = expected;
  const decoded = decodeSignedTransaction(text);
  if (!decoded) return err('transaction-undecodable');
  if (decoded.usesLookupTables) return err('lookup-tables');
  if (decoded.accounts[0] !== operator || decoded.signerCount !== 2) return err('fee-payer-mismatch');
  if (!othersSigned(decoded)) return err('signature-invalid');
  const problem = instructionProblem(decoded, program);
  if (problem) return err(problem);
  const opening = decoded.instructions.find(({ programId }) => programId === program.address);
  const parsed = opening && parseChannelInstruction(program, { accounts: opening.accounts as Address[], data: opening.data });
  if (!parsed?.ok || parsed.value.name !== 'open') return err('open-instruction-missing');
  const { accounts, salt, deposit, gracePeriodSeconds, openSlot, shares } = parsed.value;
  const { payer, rentPayer, payee, mint, authorizedSigner } = accounts;
  const made: ChannelOpening = {
    ...{ payer, rentPayer, payee, mint, authorizedSigner, salt, deposit, gracePeriodSeconds, openSlot, shares },
    tokenProgram: TOKEN_PROGRAM as Address,
  };
  const wrong = channelProblem(made, shares, expected);
  if (wrong) return err(wrong);
  if (payer !== decoded.accounts[1]) return err('signature-invalid');
  // All other accounts derive from these: the instruction must equal the one built from them.
  const built = openChannelInstruction(program, made);
  const isBuilt = (built.accounts ?? []).every(({ address }, index) => address === opening!.accounts[index]);
  if (!isBuilt || !equalBytes(Uint8Array.from(built.data!), opening!.data)) return err('foreign-account');
  if (isOperatorMisplaced(decoded, opening!, { payee, rentPayer }, operator)) return err('operator-misplaced');
  const changed = [operator, payer, accounts.channel, accounts.payerTokenAccount, accounts.escrow] as string[];
  if (decoded.writable.some((account) => !changed.includes(account))) return err('foreign-account');
  return ok({ wire: decoded.wire, messageBytes: decoded.messageBytes, channelId: accounts.channel, payer, deposit });
}

function instructionProblem({ instructions }: PartlySigned, program: ChannelProgram): OpeningProblem | null {
  const of = (...programs: readonly string[]) => instructions.filter(({ programId }) => programs.includes(programId));
  const known = of(program.address, COMPUTE_BUDGET_PROGRAM, LIGHTHOUSE_PROGRAM, ...MEMO_PROGRAMS);
  if (known.length !== instructions.length || instructions.length > INSTRUCTIONS_MAX) return 'foreign-instruction';
  if (of(program.address).length !== 1) return 'open-instruction-missing';
  if (of(LIGHTHOUSE_PROGRAM).length > LIGHTHOUSE_MAX) return 'foreign-instruction';
  return of(COMPUTE_BUDGET_PROGRAM).every(isCheap) ? null : 'compute-budget-too-high';
}

const SET_COMPUTE_UNIT_LIMIT = 2;
const SET_COMPUTE_UNIT_PRICE = 3;

function isCheap({ data }: Instruction): boolean {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  if (data[0] === SET_COMPUTE_UNIT_LIMIT && data.length === 5) return view.getUint32(1, true) <= COMPUTE_UNITS_MAX;
  return data[0] === SET_COMPUTE_UNIT_PRICE && data.length === 9 && view.getBigUint64(1, true) <= COMPUTE_PRICE_MAX_MICRO_LAMPORTS;
}

/** The operator's key is fee payer, payee and on the current program rent payer. Any other mention is refused. */
function isOperatorMisplaced(
  { instructions }: PartlySigned,
  opening: Instruction,
  { payee, rentPayer }: { payee: string; rentPayer: string },
  operator: string,
): boolean {
  const mentions = (accounts: readonly string[]) => accounts.filter((account) => account === operator).length;
  const asked = [payee, ...(rentPayer === operator ? [rentPayer] : [])];
  const others = instructions.filter((instruction) => instruction !== opening);
  return mentions(opening.accounts) !== asked.length || others.some(({ accounts }) => mentions(accounts) > 0);
}

type Terms = Pick<Channel, 'payer' | 'payee' | 'mint' | 'authorizedSigner' | 'rentPayer' | 'gracePeriodSeconds' | 'deposit'>;

/** Compares a channel with the expected one. `shares` is null if only their hash is known. */
function channelProblem(channel: Terms, shares: readonly Share[] | null, expected: ExpectedChannel): ChannelProblem | null {
  const { program, operator } = expected;
  if (channel.payee !== operator || channel.payer === operator) return 'payee-mismatch';
  if (channel.mint !== expected.mint) return 'mint-mismatch';
  if (channel.authorizedSigner !== expected.authorizedSigner || channel.authorizedSigner === operator) return 'signer-mismatch';
  // On the older program the payer pays the rent and gets it back.
  if (program.generation === 'current' && channel.rentPayer !== operator && channel.rentPayer !== channel.payer)
    return 'rent-payer-mismatch';
  const [share] = shares ?? [];
  const isFullShare = shares === null || (shares.length === 1 && share!.recipient === expected.merchantWallet && share!.bps === 10_000);
  if (!isFullShare) return 'split-mismatch';
  if (channel.gracePeriodSeconds < expected.gracePeriodSeconds) return 'grace-period-too-short';
  if (channel.deposit <= 0n) return 'invalid-deposit';
  return channel.deposit > expected.cap ? 'exceeds-cap' : null;
}

export const sharesFor = (merchantWallet: string): Share[] => [{ recipient: merchantWallet as Address, bps: 10_000 }];

export type AccountProblem = ChannelProblem | 'channel-not-found' | 'channel-malformed' | 'channel-mismatch' | 'channel-not-open';

/**
 * Verifies that an account is the expected channel, open, and at the address its fields derive. The only proof of money behind a session:
 * neither a transaction nor the escrow's balance proves it.
 */
export function verifyChannelAccount(
  address: string,
  account: ChainAccount | null,
  expected: ExpectedChannel,
): Result<Channel, AccountProblem> {
  const { program } = expected;
  if (account === null) return err('channel-not-found');
  if (account.owner !== program.address) return err('channel-malformed');
  const decoded = decodeChannel(program, account.data);
  if (!decoded.ok) return err('channel-malformed');
  const channel = decoded.value;
  if (findChannelAddress(program, channel).address !== address) return err('channel-mismatch');
  const problem = channelProblem(channel, null, expected);
  if (problem) return err(problem);
  const hash = hashShares(program, sharesFor(expected.merchantWallet));
  if (!equalBytes(Uint8Array.from(channel.distributionHash), Uint8Array.from(hash))) return err('split-mismatch');
  return channel.status === 'open' && channel.closureStartedAt === 0n ? ok(channel) : err('channel-not-open');
}
