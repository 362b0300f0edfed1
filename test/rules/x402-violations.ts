import {
  AccountRole,
  address,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  type Instruction,
} from '@solana/kit';
import { findAssociatedTokenPda } from '@solana-program/token';
import { base58, base64, utf8 } from '#core/encoding.ts';
import { ATA_PROGRAM, MEMO_PROGRAMS, SYSTEM_PROGRAM, TOKEN_PROGRAM } from '#solana/assets.ts';
import { USDC } from '../support/chain/chain.ts';
import { asked, type Case, crafted, listed, raw, transfer } from './x402-cases.ts';
import {
  budget,
  budgeted,
  checked,
  craft,
  FEE_PAYER,
  findAta,
  foreign,
  key,
  lighthouse,
  MEMO,
  memoOf,
  messageOf,
  PRICE,
  type Rig,
  SECOND_FEE_PAYER,
  signedRaw,
  transferLike,
  u,
  unitLimit,
  unitPrice,
  wireOf,
  withTransaction,
} from './x402-payments.ts';

const TOKEN_2022 = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
const ACCEPTS = 'accepts';
const UNDECODABLE = 'payload_transaction_could_not_be_decoded';
const LIMIT = 'payload_transaction_instructions_compute_limit_instruction';
const UNIT_PRICE = 'payload_transaction_instructions_compute_price_instruction';
const TRANSFERRING = 'payload_transaction_fee_payer_transferring_funds';
const IN_ACCOUNTS = 'payload_transaction_fee_payer_included_in_instruction_accounts';

const askedCases: Case[] = [
  asked('1: the requirement is of another scheme', 'unsupported_scheme', () => ({ scheme: 'upto' })),
  {
    name: '1: the echo is of another scheme',
    reason: 'unsupported_scheme',
    make: async ({ payload, requirements }) => ({
      payload: { ...payload, accepted: { ...payload.accepted, scheme: 'upto' } },
      requirements,
    }),
  },
  asked('2: the network is another', 'network_mismatch', () => ({ network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' })),
  asked('3: nothing extra is required', 'payload_missing_fee_payer', () => ({ extra: null })),
  asked('3: no fee payer is named', 'payload_missing_fee_payer', () => ({ extra: { memo: MEMO } })),
  asked('3: the fee payer is no text', 'payload_missing_fee_payer', () => ({ extra: { feePayer: 7 } })),
  asked('4: the fee payer is not ours', 'fee_payer_not_managed_by_facilitator', () => ({ extra: { feePayer: key(4) } })),
];

const decodeCases: Case[] = [
  raw('5: there is no transaction', UNDECODABLE, () => undefined),
  raw('5: the transaction is no text', UNDECODABLE, () => 12),
  raw('5: it is not base64', UNDECODABLE, () => '<transaction>'),
  raw('5: it is empty', UNDECODABLE, () => ''),
  raw('5: it ends early', UNDECODABLE, ({ payload }) => (payload.payload.transaction as string).slice(0, 200)),
  raw(
    '5: bytes follow the message',
    UNDECODABLE,
    (rig) => signedRaw(rig, Uint8Array.from([...messageOf(wireOf(rig.payload)), 0])),
    ACCEPTS,
  ),
  raw(
    '5: a length is written longer than it must be',
    UNDECODABLE,
    (rig) => {
      const message = messageOf(wireOf(rig.payload));
      return signedRaw(rig, Uint8Array.from([...message.slice(0, 4), message[4]! | 0x80, 0, ...message.slice(5)]));
    },
    ACCEPTS,
  ),
  raw('5: an account is listed twice', UNDECODABLE, (rig) => signedRaw(rig, sourceListedAsPayer(rig)), ACCEPTS),
  raw('5: the version is not known', UNDECODABLE, (rig) => signedRaw(rig, messageOf(wireOf(rig.payload)).with(0, 0x81))),
  raw('5: the slot of the payer is missing', UNDECODABLE, (rig) =>
    base64.encode(Uint8Array.from([1, ...new Uint8Array(64), ...messageOf(wireOf(rig.payload))])),
  ),
  raw('5: there is a slot too many', UNDECODABLE, (rig) => {
    const wire = wireOf(rig.payload);
    return base64.encode(Uint8Array.from([3, ...wire.slice(1, 129), ...new Uint8Array(64), ...wire.slice(129)]));
  }),
  raw('5: an instruction names an account that is not there', UNDECODABLE, (rig) => signedRaw(rig, withAccountIndex(rig, 99)), ACCEPTS),
  listed('5: it is larger than a packet', UNDECODABLE, (all) => [...all, { ...lighthouse(), data: new Uint8Array(900) }], ACCEPTS),
  raw('5: the signer is not among the accounts', UNDECODABLE, (rig) => {
    const message = [0x80, 2, 0, 0, 1, ...base58.decode(FEE_PAYER), ...new Uint8Array(32), 0, 0];
    return signedRaw(rig, Uint8Array.from(message));
  }),
  crafted('6: a third signature is required', 'payload_excessive_signers', (rig, all) => {
    const cosigner = { address: rig.stranger.address, role: AccountRole.READONLY_SIGNER };
    return { instructions: all.with(3, { ...all[3]!, accounts: [cosigner] }), signers: [rig.payer, rig.stranger] };
  }),
  crafted('7: another of our keys pays the fee', 'fee_payer_mismatch', (_, instructions) => ({ instructions, feePayer: SECOND_FEE_PAYER })),
  crafted('7: the payer pays the fee itself', 'fee_payer_mismatch', (rig, instructions) => ({ instructions, feePayer: rig.payer.address })),
  crafted('7: the payer did not sign', 'payload_signature_invalid', (_, instructions) => ({ instructions, signers: [] })),
  raw('7: the payer signed something else', 'payload_signature_invalid', async (rig) => {
    const other = await craft(rig, { instructions: rig.instructions.slice(0, 3) });
    const wire = wireOf(rig.payload).slice();
    wire.set(wireOf(withTransaction(rig, other)).slice(65, 129), 65);
    return base64.encode(wire);
  }),
  crafted(
    '8: an account hides in a lookup table',
    'smart_wallet_alt_resolution_not_available',
    (rig, instructions) => ({ instructions, tables: { [address(key(30))]: [rig.instructions[2]!.accounts![2]!.address] } }),
    'smart_wallet_alt_resolution_not_available: transaction uses Address Lookup Tables but signer does not implement fetchAddressLookupTables',
  ),
];

const budgetCases: Case[] = [
  listed('9: there are two instructions', 'payload_transaction_instructions_length', (all) => [all[0]!, all[2]!]),
  listed('9: there are eight', 'payload_transaction_instructions_length', (all) => [...all, ...Array(4).fill(lighthouse())]),
  listed('10: it does not begin with the limit', LIMIT, ([limit, price, ...rest]) => [price!, limit!, ...rest]),
  listed('10: it begins with a nonce, and would never expire', LIMIT, (all) => [nonceAdvance(), ...all]),
  listed('10: it begins with another budget instruction', LIMIT, (all) => all.with(0, budget(1, 0, 128, 0, 0))),
  listed('10: the limit is cut short', LIMIT, (all) => all.with(0, budget(2, 1, 0))),
  listed('10: the limit has no data', LIMIT, (all) => all.with(0, budget())),
  listed('10: the limit is too high', `${LIMIT}_too_high`, (all) => all.with(0, unitLimit(400_001n))),
  listed('11: no price follows', UNIT_PRICE, (all) => all.with(1, lighthouse())),
  listed('11: the limit comes twice', UNIT_PRICE, (all) => all.with(1, all[0]!)),
  listed('11: the price is cut short', UNIT_PRICE, (all) => all.with(1, budget(3, 1, 0, 0, 0))),
  listed('11: the price is too high', `${UNIT_PRICE}_too_high`, (all) => all.with(0, unitLimit(1n)).with(1, unitPrice(5_000_001n))),
  listed('11: both caps together cost too much', `${UNIT_PRICE}_too_high`, (all) => budgeted(all, 400_000n, 5_000_000n), ACCEPTS),
  listed('11: the priority fee is a lamport too high', `${UNIT_PRICE}_too_high`, (all) => budgeted(all, 400_000n, 50_003n), ACCEPTS),
  listed(
    '11: the priority fee rounds up to a lamport too high',
    `${UNIT_PRICE}_too_high`,
    (all) => budgeted(all, 399_999n, 50_001n),
    ACCEPTS,
  ),
  listed('11: the price is the highest there is', `${UNIT_PRICE}_too_high`, (all) => all.with(1, unitPrice(2n ** 64n - 1n))),
];

const transferCases: Case[] = [
  listed('12: the third is the memo', 'payload_no_transfer_instruction', ([a, b, pay, memo]) => [a!, b!, memo!, pay!]),
  listed('12: the third is a guard', 'payload_no_transfer_instruction', (all) => all.with(2, lighthouse())),
  transfer('12: it is an unchecked transfer', 'payload_no_transfer_instruction', () => ({ data: Uint8Array.from([3, ...u(PRICE, 8)]) })),
  transfer('12: it is an approval', 'payload_no_transfer_instruction', () => ({ data: Uint8Array.from([13, ...u(PRICE, 8), 6]) })),
  transfer('12: it is cut short', 'payload_no_transfer_instruction', () => ({ data: checked(PRICE).slice(0, 9) })),
  transfer(
    '12: it is of Token-2022, rightly addressed there',
    'payload_no_transfer_instruction',
    async (rig) => {
      const of = { owner: address(rig.merchant), mint: address(rig.requirements.asset), tokenProgram: address(TOKEN_2022) };
      return { program: TOKEN_2022, destination: (await findAssociatedTokenPda(of))[0] };
    },
    ACCEPTS,
  ),
  transfer('13: our fee payer is the authority', TRANSFERRING, () => ({ authority: FEE_PAYER })),
  transfer('13: another of our keys is the authority', TRANSFERRING, () => ({
    authority: SECOND_FEE_PAYER,
    authorityRole: AccountRole.READONLY,
  })),
  transfer('13: the money is taken from our fee payer', TRANSFERRING, async () => ({ source: await findAta(FEE_PAYER, USDC) }), ACCEPTS),
  transfer(
    '13: the money is taken from another of our keys',
    TRANSFERRING,
    async () => ({ source: await findAta(SECOND_FEE_PAYER, USDC) }),
    ACCEPTS,
  ),
  transfer('14: the mint is another', 'payload_mint_mismatch', () => ({ mint: key(14) })),
  {
    name: '14: the mint is the one asked for, but none of ours',
    reason: 'payload_mint_mismatch',
    reference: ACCEPTS,
    make: async (rig) => {
      const change = { mint: key(14), destination: await findAta(rig.merchant, key(14)) };
      const transaction = await craft(rig, { instructions: rig.instructions.with(2, transferLike(rig, change)) });
      return { payload: withTransaction(rig, transaction), requirements: { ...rig.requirements, asset: key(14) } };
    },
  },
  transfer('15: the destination is the wallet, not its token account', 'payload_recipient_mismatch', (rig) => ({
    destination: rig.merchant,
  })),
  transfer('15: the destination is the token account of somebody else', 'payload_recipient_mismatch', async (rig) => ({
    destination: await findAta(rig.stranger.address, USDC),
  })),
  transfer('15: the destination is the token account of another mint', 'payload_recipient_mismatch', async (rig) => ({
    destination: await findAta(rig.merchant, key(14)),
  })),
  asked('15: the recipient is another', 'payload_recipient_mismatch', (rig) => ({ payTo: rig.stranger.address })),
  asked('15: the recipient is no address', 'payload_recipient_mismatch', () => ({ payTo: 'merchant' })),
  asked('15: the payer pays itself', 'payload_recipient_mismatch', (rig) => ({ payTo: rig.payer.address })),
  {
    name: '15: the money goes back to where it came from',
    reason: 'payload_recipient_mismatch',
    reference: ACCEPTS,
    make: async (rig) => {
      const change = { destination: await findAta(rig.payer.address, USDC) };
      const transaction = await craft(rig, { instructions: rig.instructions.with(2, transferLike(rig, change)) });
      return { payload: withTransaction(rig, transaction), requirements: { ...rig.requirements, payTo: rig.payer.address } };
    },
  },
  transfer('16: a unit is missing', 'payload_amount_mismatch', () => ({ data: checked(PRICE - 1n) })),
  transfer('16: a unit is too much', 'payload_amount_mismatch', () => ({ data: checked(PRICE + 1n) })),
  asked('16: the amount asked for is no integer', 'payload_amount_mismatch', () => ({ amount: '0.25' }), 'throws'),
  asked('16: the amount asked for is written in hexadecimal', 'payload_amount_mismatch', () => ({ amount: '0x3d090' }), ACCEPTS),
];

const optionalCases: Case[] = [
  listed('17: the fourth is unknown', 'payload_unknown_fourth_instruction', (all) => all.with(3, foreign())),
  listed('17: the fifth is unknown', 'payload_unknown_fifth_instruction', (all) => [...all, foreign()]),
  listed('17: the sixth is unknown', 'payload_unknown_sixth_instruction', (all) => [...all, lighthouse(), foreign()]),
  listed('17: the seventh is unknown', 'payload_unknown_seventh_instruction', (all) => [...all, lighthouse(), lighthouse(), foreign()]),
  listed('17: a second transfer follows', 'payload_unknown_fifth_instruction', (all) => [...all, all[2]!]),
  listed('17: a token account is created', 'payload_unknown_fifth_instruction', (all) => [...all, foreign(ATA_PROGRAM)]),
  listed('17: the fee payer sends SOL', 'payload_unknown_fifth_instruction', (all) => [...all, solFromFeePayer()]),
  listed('17: the token program is called again', 'payload_unknown_fifth_instruction', (all) => [...all, foreign(TOKEN_PROGRAM)]),
  listed('17: the budget is changed at the end', 'payload_unknown_fifth_instruction', (all) => [...all, unitPrice(9_000_000n)]),
  listed('17: an old memo program speaks', 'payload_unknown_fifth_instruction', (all) => [...all, memoOf(utf8(MEMO), MEMO_PROGRAMS[1])]),
  listed('18: the memo is missing', 'payload_memo_count', (all) => all.slice(0, 3)),
  listed('18: the memo comes twice', 'payload_memo_count', (all) => [...all, all[3]!]),
  listed('18: another memo follows', 'payload_memo_count', (all) => [...all, memoOf(utf8('hello'))]),
  listed('18: the memo is another', 'payload_memo_mismatch', (all) => all.with(3, memoOf(utf8(`${MEMO}A`)))),
  listed('18: the memo is empty', 'payload_memo_mismatch', (all) => all.with(3, memoOf(new Uint8Array()))),
  listed('18: the memo only reads the same', 'payload_memo_mismatch', (all) => all.with(3, memoOf(utf8(`\ufeff${MEMO}`))), ACCEPTS),
  {
    name: '18: the memo is no text, and a decoder would make it the one asked for',
    reason: 'payload_memo_mismatch',
    reference: ACCEPTS,
    make: async (rig) => ({
      payload: withTransaction(rig, await craft(rig, { instructions: rig.instructions.with(3, memoOf(Uint8Array.of(0xff))) })),
      requirements: { ...rig.requirements, extra: { feePayer: FEE_PAYER, memo: '\ufffd' } },
    }),
  },
  asked('18: the memo asked for is no text', 'payload_memo_mismatch', () => ({ extra: { feePayer: FEE_PAYER, memo: [MEMO] } })),
];

const feePayerCases: Case[] = [
  listed('a guard names our fee payer', IN_ACCOUNTS, (all) => [...all, lighthouse(FEE_PAYER)], ACCEPTS),
  listed('a guard names another of our keys', IN_ACCOUNTS, (all) => [...all, lighthouse(key(5), SECOND_FEE_PAYER)], ACCEPTS),
  listed(
    'the memo is signed by our fee payer',
    IN_ACCOUNTS,
    (all) => all.with(3, { ...all[3]!, accounts: [{ address: address(FEE_PAYER), role: AccountRole.READONLY_SIGNER }] }),
    ACCEPTS,
  ),
  transfer('the transfer names our fee payer behind its own accounts', IN_ACCOUNTS, () => ({ more: [FEE_PAYER] }), ACCEPTS),
  transfer('the authority is no signer', 'payload_signature_invalid', () => ({ authorityRole: AccountRole.READONLY }), ACCEPTS, {
    signers: [],
  }),
];

function withAccountIndex(rig: Rig, index: number): Uint8Array {
  const message = getCompiledTransactionMessageDecoder().decode(messageOf(wireOf(rig.payload)));
  if (message.version !== 0) throw new Error('the public client writes version 0');
  const instructions = message.instructions.map((ix, at) => (at === 3 ? { ...ix, accountIndices: [index] } : ix));
  return Uint8Array.from(getCompiledTransactionMessageEncoder().encode({ ...message, instructions }));
}
/** Message with the payer instead of its token account, so the payer is listed twice. */
function sourceListedAsPayer(rig: Rig): Uint8Array {
  const message = getCompiledTransactionMessageDecoder().decode(messageOf(wireOf(rig.payload)));
  const source = rig.instructions[2]!.accounts![0]!.address;
  const staticAccounts = message.staticAccounts.map((account) => (account === source ? rig.payer.address : account));
  return Uint8Array.from(getCompiledTransactionMessageEncoder().encode({ ...message, staticAccounts }));
}
const solFromFeePayer = (): Instruction => ({
  programAddress: address(SYSTEM_PROGRAM),
  accounts: [
    { address: address(FEE_PAYER), role: AccountRole.WRITABLE_SIGNER },
    { address: address(key(13)), role: AccountRole.WRITABLE },
  ],
  data: Uint8Array.from([2, 0, 0, 0, ...u(1_000n, 8)]),
});
const nonceAdvance = (): Instruction => ({
  programAddress: address(SYSTEM_PROGRAM),
  accounts: [{ address: address(key(13)), role: AccountRole.WRITABLE }],
  data: Uint8Array.of(4, 0, 0, 0),
});

export const VIOLATIONS: Case[] = [...askedCases, ...decodeCases, ...budgetCases, ...transferCases, ...optionalCases, ...feePayerCases];
