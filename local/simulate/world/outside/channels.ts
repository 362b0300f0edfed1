import { base58 } from '@scure/base';
import { type Address, address, type Blockhash, type Instruction } from '@solana/kit';
import { CHANNEL_PROGRAMS, type ChannelProgram, findChannelAddress } from '#solana/programs/payment-channels/channel.ts';
import {
  type ChannelOpening,
  openChannelInstruction,
  requestCloseInstruction,
  topUpInstruction,
} from '#solana/programs/payment-channels/instructions.ts';
import { TOKEN_PROGRAM, USDC_MINT } from '../../../chain/ledger/network.ts';
import type { Body } from '../../book/host.ts';
import type { Wallet } from './wallet.ts';

export type Generation = keyof typeof CHANNEL_PROGRAMS;

/** Terms that a buyer chooses. The challenge has the others. */
export interface ChannelChoice {
  payer: Wallet;
  signer: Wallet;
  generation: Generation;
  deposit: bigint;
  salt: bigint;
  mode: 'pull' | 'push';
}

/** Payment channel of one buyer, with the transactions that its payer signs. */
export class Channel {
  readonly id: Address;
  readonly deposit: bigint;
  readonly #opening: ChannelOpening;
  readonly #choice: ChannelChoice;
  readonly #request: Body;

  constructor(choice: ChannelChoice, request: Body) {
    const { payer, signer, generation, mode } = choice;
    const operator = address(request.operator);
    const isCurrent = generation === 'current';
    this.deposit = choice.deposit;
    this.#choice = choice;
    this.#request = request;
    this.#opening = {
      payer: payer.address,
      rentPayer: isCurrent && mode === 'pull' ? operator : payer.address,
      payee: address(request.recipient),
      mint: USDC_MINT,
      authorizedSigner: signer.address,
      salt: choice.salt,
      deposit: choice.deposit,
      gracePeriodSeconds: 900,
      openSlot: isCurrent ? BigInt(request.recentSlot) : null,
      shares: request.splits.map(({ recipient, bps }: Body) => ({ recipient, bps })),
      tokenProgram: TOKEN_PROGRAM,
    };
    this.id = findChannelAddress(this.#program, this.#opening).address;
  }

  get #program(): ChannelProgram {
    return CHANNEL_PROGRAMS[this.#choice.generation];
  }

  /** Opening in base64. In pull mode the operator pays the fee and has still to sign. */
  signOpening(): string {
    const { payer, mode } = this.#choice;
    const { recentBlockhash, operator } = this.#request;
    const lifetime = { blockhash: recentBlockhash as Blockhash, lastValidBlockHeight: 0n };
    const instruction = openChannelInstruction(this.#program, this.#opening);
    return payer.signInstructions([instruction], lifetime, mode === 'pull' ? address(operator) : payer.address);
  }

  /** Credential of the opening. `signature`: of the transaction that the payer sent. */
  openAction(signature: string | null): object {
    const { payer, payee, mint, deposit, salt, gracePeriodSeconds: gracePeriod } = this.#opening;
    const { signer, mode } = this.#choice;
    const stated = { action: 'open', channelId: this.id, authorizedSigner: signer.address, payer, payee, mint, gracePeriod, mode };
    const sent = signature === null ? { signature: '1'.repeat(64), transaction: this.signOpening() } : { signature };
    return { ...stated, deposit: `${deposit}`, salt: `${salt}`, ...sent };
  }

  get #account() {
    const { payer, payee, mint, rentPayer, tokenProgram } = this.#opening;
    return { address: this.id, channel: { payer, payee, mint, rentPayer }, tokenProgram };
  }

  topUp(units: bigint): Instruction {
    return topUpInstruction(this.#program, this.#account, units);
  }

  /** Starts the payer's exit, after which the merchant has the grace period to settle. */
  requestClose(): Instruction {
    return requestCloseInstruction(this.#program, this.#account);
  }
}

const VOUCHER_MAGIC = Buffer.from([0x56, 0x01]);

/** Signs a promise of a cumulative amount: channel, amount and end in the byte order of the program. */
export function signVoucher(signer: Wallet, generation: Generation, channelId: string, cumulative: bigint, expiresAt: number): object {
  const bytes = Buffer.alloc(16);
  bytes.writeBigUInt64LE(cumulative);
  bytes.writeBigInt64LE(BigInt(expiresAt), 8);
  const message = Buffer.concat([generation === 'current' ? VOUCHER_MAGIC : Buffer.alloc(0), base58.decode(channelId), bytes]);
  return { data: { channelId, cumulativeAmount: cumulative.toString(), expiresAt }, signature: signer.signBytes(message) };
}
