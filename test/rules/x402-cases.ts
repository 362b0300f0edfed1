import type { Instruction } from '@solana/kit';
import type { PaymentPayload, PaymentRequirements } from '#protocols/x402/wire.ts';
import {
  budgeted,
  craft,
  type Draft,
  FEE_PAYER,
  key,
  lighthouse,
  type Rig,
  type TransferChange,
  transferLike,
  withTransaction,
} from './x402-payments.ts';

export interface Case {
  name: string;
  /** Reason of our verdict, without the prefix. */
  reason: string;
  /** Other verdict of the reference, if any: accepts, throws or another reason. */
  reference?: string;
  make(rig: Rig): Promise<{ payload: PaymentPayload; requirements: PaymentRequirements }>;
}

type Change = (rig: Rig) => Partial<PaymentRequirements>;
export const asked = (name: string, reason: string, change: Change, reference?: string): Case => ({
  name,
  reason,
  reference,
  make: async (rig) => ({ payload: rig.payload, requirements: { ...rig.requirements, ...change(rig) } }),
});
export const crafted = (
  name: string,
  reason: string,
  draft: (rig: Rig, all: Instruction[]) => Draft | Promise<Draft>,
  reference?: string,
): Case => ({
  name,
  reason,
  reference,
  make: async (rig) => ({
    payload: withTransaction(rig, await craft(rig, await draft(rig, [...rig.instructions]))),
    requirements: rig.requirements,
  }),
});
export const raw = (name: string, reason: string, text: (rig: Rig) => unknown, reference?: string): Case => ({
  name,
  reason,
  reference,
  make: async (rig) => ({ payload: withTransaction(rig, await text(rig)), requirements: rig.requirements }),
});
export const listed = (name: string, reason: string, list: (all: Instruction[], rig: Rig) => Instruction[], reference?: string): Case =>
  crafted(name, reason, (rig, all) => ({ instructions: list(all, rig) }), reference);
export const transfer = (
  name: string,
  reason: string,
  change: (rig: Rig) => TransferChange | Promise<TransferChange>,
  reference?: string,
  draft: Partial<Draft> = {},
): Case =>
  crafted(name, reason, async (rig, all) => ({ ...draft, instructions: all.with(2, transferLike(rig, await change(rig))) }), reference);

export const PAYMENTS: Case[] = [
  raw('as the public client writes it', 'ok', ({ payload }) => payload.payload.transaction),
  listed('guarded by a wallet once', 'ok', (all, rig) => [...all, lighthouse(rig.payer.address)]),
  listed('guarded before and behind the memo, as often as fits', 'ok', ([a, b, pay, memo], rig) => [
    ...[a!, b!, pay!, lighthouse()],
    ...[memo!, lighthouse(rig.payer.address), lighthouse()],
  ]),
  crafted('of the legacy version', 'ok', (_, instructions) => ({ instructions, version: 'legacy' })),
  listed('at the cap of units and of the priority fee', 'ok', (all) => budgeted(all, 400_000n, 50_000n)),
  listed('at the cap of the price and of the priority fee', 'ok', (all) => budgeted(all, 4_000n, 5_000_000n)),
  transfer('with a reference behind the accounts of the transfer', 'ok', () => ({ more: [key(11)] })),
  transfer('from another token account of the payer', 'ok', () => ({ source: key(12) })),
  {
    name: 'without a memo where none was asked for',
    reason: 'ok',
    make: async (rig) => ({
      payload: withTransaction(rig, await craft(rig, { instructions: rig.instructions.slice(0, 3) })),
      requirements: { ...rig.requirements, extra: { feePayer: FEE_PAYER } },
    }),
  },
];
