import { type Address, generateKeyPairSigner, type Instruction, type KeyPairSigner, signBytes } from '@solana/kit';
import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import { base58 } from '#core/encoding.ts';
import { associatedTokenAddress } from '#solana/programs/derived-address.ts';
import { type Channel, type ChannelProgram, decodeChannel, findChannelAddress } from '#solana/programs/payment-channels/channel.ts';
import {
  type ChannelAccount,
  type ChannelOpening,
  distributeInstruction,
  openChannelInstruction,
  settleAndSealInstruction,
  settleInstruction,
} from '#solana/programs/payment-channels/instructions.ts';
import { ed25519Instruction, encodeVoucher, type Voucher } from '#solana/programs/payment-channels/vouchers.ts';
import { USDC } from '../chain/wallets.ts';
import type { ProgramChain } from './program-chain.ts';

/** A payer, the operator as payee and rent payer if the program allows, the merchant as only recipient, and a key that signs vouchers. */
export interface Parties {
  payer: KeyPairSigner;
  operator: KeyPairSigner;
  merchant: KeyPairSigner;
  session: KeyPairSigner;
}

export const DEPOSIT = 1_000_000n;
export const GRACE_SECONDS = 900;

export class ChannelWorld {
  readonly program: ChannelProgram;
  readonly on: ProgramChain;
  readonly parties: Parties;
  readonly opening: ChannelOpening;
  readonly address: Address;
  readonly escrow: Address;
  readonly account: ChannelAccount;

  constructor(program: ChannelProgram, on: ProgramChain, parties: Parties, opening: ChannelOpening) {
    this.program = program;
    this.on = on;
    this.parties = parties;
    this.opening = opening;
    this.address = findChannelAddress(program, opening).address;
    this.escrow = associatedTokenAddress(this.address, opening.mint, TOKEN_PROGRAM_ADDRESS);
    this.account = { address: this.address, channel: opening, tokenProgram: TOKEN_PROGRAM_ADDRESS };
  }

  async open(): Promise<this> {
    await this.on.send(openChannelInstruction(this.program, this.opening));
    return this;
  }

  async read(): Promise<Channel> {
    const decoded = decodeChannel(this.program, (await this.on.dataOf(this.address)) ?? new Uint8Array());
    if (!decoded.ok) throw new Error(decoded.reason);
    return decoded.value;
  }

  voucher(cumulativeAmount: bigint, changes: Partial<Voucher> = {}): Voucher {
    return { channelId: this.address, cumulativeAmount, expiresAt: 0n, ...changes };
  }

  verified(voucher: Voucher, signer: KeyPairSigner = this.parties.session): Promise<Instruction> {
    return this.signed(encodeVoucher(this.program, voucher), signer);
  }

  async signed(message: Uint8Array, signer: KeyPairSigner = this.parties.session): Promise<Instruction> {
    const signature = await signBytes(signer.keyPair.privateKey, message);
    return ed25519Instruction({ publicKey: base58.decode(signer.address), signature, message });
  }

  async settle(cumulativeAmount: bigint): Promise<void> {
    const voucher = this.voucher(cumulativeAmount);
    await this.on.send(await this.verified(voucher), settleInstruction(this.program, voucher));
  }

  /** Seals the channel by the operator's signature, with an optional last voucher. */
  async seal(cumulativeAmount: bigint | null = null): Promise<void> {
    const voucher = cumulativeAmount === null ? null : this.voucher(cumulativeAmount);
    const check = voucher === null ? [] : [await this.verified(voucher)];
    await this.on.send(...check, settleAndSealInstruction(this.program, this.account, voucher));
  }

  distribution(): Instruction {
    const treasuryOwner = this.program.treasuryOwners.devnet;
    return distributeInstruction(this.program, this.account, { shares: this.opening.shares, treasuryOwner });
  }

  async distribute(): Promise<void> {
    await this.on.send(this.distribution());
  }
}

/** Opens four wallets: the payer with USDC, operator and merchant with a token account each. */
export async function openParties(on: ProgramChain): Promise<Parties> {
  const payer = await on.openWallet({ usdc: 10n * DEPOSIT });
  const [operator, merchant] = [await on.openWallet(), await on.openWallet()];
  for (const { address } of [operator, merchant]) await on.chain.result('local_fundUsdc', address, '0');
  return { payer, operator, merchant, session: await generateKeyPairSigner() };
}

export async function prepareChannel(
  program: ChannelProgram,
  on: ProgramChain,
  { parties: known, ...changes }: Partial<ChannelOpening> & { parties?: Parties } = {},
): Promise<ChannelWorld> {
  const parties = known ?? (await openParties(on));
  const isCurrent = program.generation === 'current';
  const opening: ChannelOpening = {
    payer: parties.payer.address,
    rentPayer: isCurrent ? parties.operator.address : parties.payer.address,
    payee: parties.operator.address,
    mint: USDC,
    authorizedSigner: parties.session.address,
    salt: 7n,
    deposit: DEPOSIT,
    gracePeriodSeconds: GRACE_SECONDS,
    openSlot: isCurrent ? await on.slot() : null,
    shares: [{ recipient: parties.merchant.address, bps: 10_000 }],
    tokenProgram: TOKEN_PROGRAM_ADDRESS,
    ...changes,
  };
  return new ChannelWorld(program, on, parties, opening);
}

export const openChannel = async (...args: Parameters<typeof prepareChannel>): Promise<ChannelWorld> =>
  (await prepareChannel(...args)).open();
