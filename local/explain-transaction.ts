import { type Address, getCompiledTransactionMessageDecoder, getTransactionDecoder } from '@solana/kit';
import { formatAmount } from '../worker/core/money.ts';
import { plain } from '../worker/pages/parts/text.ts';
import { COMPUTE_BUDGET_PROGRAM, NATIVE_MINT, NETWORKS } from '../worker/solana/assets.ts';
import { parseSubscriptionInstruction } from '../worker/solana/programs/subscriptions/parse-instruction.ts';
import { SUBSCRIPTIONS_PROGRAM } from '../worker/solana/programs/subscriptions/subscription.ts';
import { type Instruction, parseAtaCreation, parseLamportTransfer, parseMemo, parseTokenTransfer } from '../worker/solana/transaction.ts';

/** A prepared transaction in words. */
export interface Explained {
  feePayer: string;
  signers: string[];
  /** One line for each instruction, in their order. */
  lines: string[];
  /** Lines that say that an instruction is unknown. */
  unknown: string[];
}

const SET_LIMIT = 2;
const SET_PRICE = 3;
const HOURS_A_DAY = 24n;
const USDC_MINTS: readonly string[] = Object.values(NETWORKS).map(({ usdcMint }) => usdcMint);

/** Only a mint that the service knows is called USDC. */
function amountOf(mint: string | null, units: bigint): string {
  if (mint === NATIVE_MINT) return `${formatAmount({ asset: 'SOL', units })} SOL`;
  if (mint !== null && USDC_MINTS.includes(mint)) return `${formatAmount({ asset: 'USDC', units })} USDC`;
  return `${units} base units of ${mint === null ? 'a token that is not named' : `the token ${mint}`}`;
}

const tokenName = (mint: string): string => (USDC_MINTS.includes(mint) ? 'USDC' : `the token ${mint}`);

/** Words for an instruction of the subscriptions program that wallets are asked to sign; null for any other. */
function explainSubscription({ accounts, data }: Instruction): string | null {
  const parsed = parseSubscriptionInstruction({ accounts: accounts as Address[], data });
  if (!parsed.ok) return null;
  const { value } = parsed;
  switch (value.name) {
    case 'createPlan': {
      const { mint, amount, periodHours, endTs, destinations, pullers, metadataUri } = value.plan;
      const period = periodHours % HOURS_A_DAY === 0n ? `${periodHours / HOURS_A_DAY} days` : `${periodHours} hours`;
      const end = endTs === 0n ? 'without an end' : `until ${new Date(Number(endTs) * 1000).toISOString()}`;
      const terms = `${amountOf(mint, amount)} every ${period}, ${end}`;
      return `Publishes a subscription plan of ${value.accounts.owner}: ${terms}. Paid to ${listed(destinations)}. Collected by ${listed(pullers)}. Described at ${plain(metadataUri) || 'no address'}.`;
    }
    case 'initAuthority':
      return `Lets the subscriptions program collect ${tokenName(value.accounts.mint)} from the wallet ${value.accounts.user}, as its subscriptions allow.`;
    case 'subscribe':
      return `Subscribes ${value.accounts.subscriber}: ${amountOf(value.consent.mint, value.consent.amount)} every ${value.consent.periodHours} hours may be collected.`;
    default:
      return null;
  }
}

const listed = (addresses: readonly string[]): string => addresses.join(', ') || 'anyone';

function explainBudget({ data }: Instruction): string | null {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  if (data[0] === SET_LIMIT && data.length === 5) return `Uses at most ${view.getUint32(1, true)} compute units.`;
  if (data[0] === SET_PRICE && data.length === 9)
    return `Offers the network ${view.getBigUint64(1, true)} millionths of a lamport per compute unit.`;
  return null;
}

/** Words for an instruction; null for one that nothing here can read. */
function explainInstruction(instruction: Instruction): string | null {
  const { programId } = instruction;
  if (programId === COMPUTE_BUDGET_PROGRAM) return explainBudget(instruction);
  if (programId === SUBSCRIPTIONS_PROGRAM) return explainSubscription(instruction);
  const memo = parseMemo(instruction);
  if (memo !== null) return `Writes the memo "${plain(memo)}".`;
  const account = parseAtaCreation(instruction);
  if (account)
    return `Opens the ${tokenName(account.mint)} account of the wallet ${account.owner}; ${account.payer} pays its deposit, about 0.002 SOL.`;
  const transfer = parseTokenTransfer(instruction) ?? parseLamportTransfer(instruction);
  return transfer && `Sends ${amountOf(transfer.mint, transfer.units)} of ${transfer.authority} to the account ${transfer.destination}.`;
}

/** Reads a transaction in base64 wire form. Throws for one whose accounts are in a lookup table, because nothing here can read those. */
export function explainTransaction(transaction: Uint8Array): Explained {
  const { messageBytes } = getTransactionDecoder().decode(transaction);
  const message = getCompiledTransactionMessageDecoder().decode(messageBytes);
  if ('addressTableLookups' in message && (message.addressTableLookups?.length ?? 0) > 0)
    throw new Error('This transaction names accounts by a lookup table, which cannot be read here. Do not sign it.');
  if (!('instructions' in message)) throw new Error('This form of transaction cannot be read here. Do not sign it.');
  const { staticAccounts, header } = message;
  const instructions = message.instructions.map(({ programAddressIndex, accountIndices = [], data = new Uint8Array() }) => ({
    programId: staticAccounts[programAddressIndex]!,
    accounts: accountIndices.map((index): string => staticAccounts[index]!),
    data: Uint8Array.from(data),
  }));
  const unknown: string[] = [];
  const lines = instructions.map((instruction, index) => {
    const known = explainInstruction(instruction);
    if (known !== null) return known;
    const line = `UNKNOWN: instruction ${index + 1} of the program ${instruction.programId} cannot be read. It may do anything your wallet can.`;
    unknown.push(line);
    return line;
  });
  return { feePayer: staticAccounts[0]!, signers: staticAccounts.slice(0, header.numSignerAccounts), lines, unknown };
}
