import type { Address, Instruction, KeyPairSigner } from '@solana/kit';
import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types';
import { SOLANA_DEVNET_CAIP2, toFacilitatorSvmSigner, UptoSvmScheme } from '@x402/svm';
import { UptoSvmScheme as UptoFacilitator } from '@x402/svm/upto/facilitator';
import { describe, expect, it } from 'vitest';
import { CHANNEL_PROGRAMS, decodeChannel } from '#solana/programs/payment-channels/channel.ts';
import type { Share } from '#solana/programs/payment-channels/distribution.ts';
import {
  distributeInstruction,
  openChannelInstruction,
  reclaimInstruction,
  settleAndSealInstruction,
} from '#solana/programs/payment-channels/instructions.ts';
import { type ChannelInstruction, parseChannelInstruction } from '#solana/programs/payment-channels/parse-instruction.ts';
import { decodeVoucher, ED25519_PROGRAM, ed25519Instruction, parseEd25519Instruction } from '#solana/programs/payment-channels/vouchers.ts';
import { USDC } from '../chain/wallets.ts';
import { openProgramChain, type ProgramChain, useServer } from './program-chain.ts';

const PROGRAM = CHANNEL_PROGRAMS.current;
const CEILING = 50_000n;

const server = useServer();

interface World {
  on: ProgramChain;
  buyer: KeyPairSigner;
  merchant: KeyPairSigner;
  operator: KeyPairSigner;
  facilitator: UptoFacilitator;
  requirements: PaymentRequirements;
  restart(): UptoFacilitator;
  pay(): Promise<PaymentPayload>;
}

async function openWorld(): Promise<World> {
  const on = await openProgramChain(server());
  const [buyer, merchant, operator] = [await on.openWallet({ usdc: CEILING }), await on.openWallet(), await on.openWallet()];
  for (const { address } of [merchant, operator]) await on.chain.result('local_fundUsdc', address, '0');
  const restart = () =>
    new UptoFacilitator(toFacilitatorSvmSigner(operator, { defaultRpcUrl: on.chain.url }), {
      authorizerSigner: operator,
      resolveCallerIdentity: () => 'the only shop here',
    });
  const requirements: PaymentRequirements = {
    scheme: 'upto',
    network: SOLANA_DEVNET_CAIP2 as PaymentRequirements['network'],
    asset: USDC,
    amount: CEILING.toString(),
    payTo: merchant.address,
    maxTimeoutSeconds: 60,
    extra: { feePayer: operator.address, receiverAuthorizer: operator.address, withdrawDelay: 900 },
  };
  const client = new UptoSvmScheme(buyer, { rpcUrl: on.chain.url });
  const pay = async () => {
    const created = await client.createPaymentPayload(2, requirements);
    return {
      ...created,
      accepted: requirements,
      resource: { url: 'https://shop.example', description: '', mimeType: '' },
    } as PaymentPayload;
  };
  return { on, buyer, merchant, operator, facilitator: restart(), restart, requirements, pay };
}

const settleAs = ({ facilitator, requirements }: World, payment: PaymentPayload, type: 'deposit' | 'claim', amount: bigint) => {
  const payload = { ...payment, payload: { ...payment.payload, type } };
  return facilitator.settle(payload as PaymentPayload, { ...requirements, amount: amount.toString() });
};

describe('public facilitator of metered payments', () => {
  it('the facilitator opens the client’s signed channel, settles usage and reclaims its rent', async () => {
    const world = await openWorld();
    const { on, buyer, merchant, operator, facilitator, requirements } = world;
    const payment = await world.pay();
    const verified = await facilitator.verify(payment, requirements);
    expect(verified).toMatchObject({ isValid: true, payer: buyer.address });
    const deposit = await settleAs(world, payment, 'deposit', CEILING);
    expect(deposit).toMatchObject({ success: true });
    const { channelId } = payment.payload as { channelId: never };
    expect(decodeChannel(PROGRAM, (await on.dataOf(channelId))!)).toMatchObject({
      ok: true,
      value: { status: 'open', deposit: CEILING, payer: buyer.address, payee: operator.address, rentPayer: operator.address },
    });
    expect(await on.usdcOf(buyer.address)).toBe(0n);

    const claim = await settleAs(world, payment, 'claim', 12_345n);
    expect(claim).toMatchObject({ success: true });
    expect(await on.usdcOf(merchant.address)).toBe(12_345n);
    expect(await on.usdcOf(buyer.address)).toBe(CEILING - 12_345n);
    expect(decodeChannel(PROGRAM, (await on.dataOf(channelId))!)).toMatchObject({ value: { status: 'distributed', settled: 12_345n } });

    const cleanup = facilitator.createRentCleanupManager(requirements.network);
    await cleanup.cleanup();
    expect(await on.dataOf(channelId)).not.toBeNull();
    await on.warp(700);
    const before = await on.lamportsOf(operator.address);
    const rent = await on.lamportsOf(channelId);
    await cleanup.cleanup();
    expect(await on.dataOf(channelId)).toBeNull();
    expect(await on.lamportsOf(operator.address)).toBeGreaterThan(before + rent - 20_000n);
  });

  it('a restarted facilitator finds its channels on the chain and reclaims their rent', async () => {
    const world = await openWorld();
    const { on, requirements } = world;
    const payment = await world.pay();
    await settleAs(world, payment, 'deposit', CEILING);
    await settleAs(world, payment, 'claim', 1n);
    await on.warp(700);
    const forgetful = world.restart().createRentCleanupManager(requirements.network);
    const found: string[] = [];
    await forgetful.discover({ onDiscover: ({ channelIds }) => found.push(...channelIds) });
    const { channelId } = payment.payload as { channelId: never };
    expect(found).toEqual([channelId]);
    await forgetful.cleanup();
    expect(await on.dataOf(channelId)).toBeNull();
  });

  it('the facilitator’s instructions equal those that this repository builds and parses, byte for byte', async () => {
    const world = await openWorld();
    const { on, merchant, requirements, facilitator } = world;
    const payment = await world.pay();
    await settleAs(world, payment, 'deposit', CEILING);
    await settleAs(world, payment, 'claim', 12_345n);
    await on.warp(700);
    await facilitator.createRentCleanupManager(requirements.network).cleanup();
    const { channelId } = payment.payload as { channelId: Address };
    const sent = (await on.instructionsOf(channelId)).filter(({ programAddress }) => {
      return programAddress === PROGRAM.address || programAddress === ED25519_PROGRAM;
    });
    const shares = [{ recipient: merchant.address, bps: 10_000 }];
    const names = sent.map((instruction) => {
      if (instruction.programAddress === ED25519_PROGRAM) {
        const signed = parseEd25519Instruction(PROGRAM, instruction.data)!;
        expect(ed25519Instruction(signed).data).toEqual(instruction.data);
        expect(decodeVoucher(PROGRAM, signed.message)).toMatchObject({ channelId, cumulativeAmount: 12_345n });
        return 'ed25519';
      }
      const parsed = parseChannelInstruction(PROGRAM, instruction);
      if (!parsed.ok) throw new Error(parsed.reason);
      const rebuilt = rebuild(parsed.value, channelId, shares);
      expect([...rebuilt.data!]).toEqual([...instruction.data]);
      expect(rebuilt.accounts!.map(({ address }) => address)).toEqual(instruction.accounts);
      return parsed.value.name;
    });
    expect(names).toEqual(['open', 'ed25519', 'settleAndSeal', 'distribute', 'reclaim']);
  });
});

function rebuild(instruction: ChannelInstruction, address: Address, shares: readonly Share[]): Instruction {
  const { accounts } = instruction as { accounts: Record<'payer' | 'payee' | 'mint' | 'rentPayer', Address> };
  // Accounts missing in the instruction are not needed to build it.
  const payee = accounts.payee ?? accounts.rentPayer;
  const account = { address, channel: { ...accounts, payee }, tokenProgram: TOKEN_PROGRAM_ADDRESS };
  switch (instruction.name) {
    case 'open':
      return openChannelInstruction(PROGRAM, { ...instruction, ...instruction.accounts });
    case 'settleAndSeal':
      return settleAndSealInstruction(PROGRAM, account, { channelId: address, cumulativeAmount: 0n, expiresAt: 0n });
    case 'distribute':
      return distributeInstruction(PROGRAM, account, { shares, treasuryOwner: PROGRAM.treasuryOwners.devnet });
    case 'reclaim':
      return reclaimInstruction(PROGRAM, account);
    default:
      throw new Error(`the facilitator has no use for ${instruction.name}`);
  }
}
