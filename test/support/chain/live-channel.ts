import {
  type Address,
  address,
  addSignersToInstruction,
  appendTransactionMessageInstructions,
  type Blockhash,
  createNoopSigner,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  type Instruction,
  type KeyPairSigner,
  partiallySignTransactionMessageWithSigners,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import { keyRing } from '#core/crypto.ts';
import { base58, base64, base64url } from '#core/encoding.ts';
import { TOKEN_PROGRAM } from '#solana/assets.ts';
import {
  CHANNEL_PROGRAMS,
  type Channel,
  type ChannelProgram,
  decodeChannel,
  findChannelAddress,
} from '#solana/programs/payment-channels/channel.ts';
import {
  type ChannelOpening,
  distributeInstruction,
  openChannelInstruction,
  requestCloseInstruction,
  sealInstruction,
  settleInstruction,
  topUpInstruction,
} from '#solana/programs/payment-channels/instructions.ts';
import { ed25519Instruction, encodeVoucher } from '#solana/programs/payment-channels/vouchers.ts';
import { MeteredShop, projectSession } from '../clients/metered.ts';
import { prepareOnEvents } from '../fixtures/acts.ts';
import { newKey, sellToAgents, write } from '../people/agent.ts';
import { type Merchant, World } from '../world.ts';
import { USDC } from './chain.ts';

/** Environment of a deployment that opens channels. */
export const CHANNEL_KEYS = base64url.encode(new Uint8Array(32).fill(77));
export const channelWorld = (config: Record<string, string> = {}): World => new World({ CHANNEL_KEYS, ...config });

export const operatorOf = (w: World): Address => base58.encode(keyRing(w.env.CHANNEL_KEYS as string)[0]!.publicKey) as Address;

/** Funds the operator's fees and creates the USDC accounts of every party of a distribution. */
export async function fundChannels(w: World): Promise<void> {
  await w.chain.call('local_fundSol', operatorOf(w), '1000000000');
  await w.chain.call('local_fundUsdc', operatorOf(w), '0');
}

export interface LiveOptions {
  program?: ChannelProgram;
  body?: object;
  merchant?: Merchant;
}

/** Live session of a merchant and a buyer with five USDC who signs on the world's chain. */
export class LiveShop extends MeteredShop {
  readonly wallet: KeyPairSigner;
  readonly program: ChannelProgram;

  constructor(shop: { w: World; merchant: Merchant; session: MeteredShop['session'] }, wallet: KeyPairSigner, program: ChannelProgram) {
    super(shop.w, shop.merchant, shop.session, shop.merchant.key);
    this.wallet = wallet;
    this.program = program;
  }

  static async make(w: World, { program = CHANNEL_PROGRAMS.older, body = {}, merchant }: LiveOptions = {}): Promise<LiveShop> {
    const seller = merchant ?? (await w.merchant());
    const product = await sellToAgents(w, seller, { price: { asset: 'USDC', amount: '1' } });
    const request = { product_id: product.product_id, cap: { asset: 'USDC', amount: '1' }, channel_program: program.address, ...body };
    const options = { idempotencyKey: newKey() };
    let made = await write(w, seller, 'metered-sessions', request, options);
    // All worlds share one chain, which may be slow to answer. A client repeats a retryable refusal under its key.
    for (let tries = 0; tries < 3 && made.body.retryable === true; tries++)
      made = await write(w, seller, 'metered-sessions', request, options);
    if (made.status !== 201) throw new Error(JSON.stringify(made.body));
    return new LiveShop({ w, merchant: seller, session: made.body }, await w.chain.wallet(5_000_000n), program);
  }

  /** Terms of a valid opening. `change` makes them invalid. */
  opening(change: Partial<ChannelOpening> = {}): ChannelOpening {
    const { request } = this.session.challenge;
    const operator = request.operator as Address;
    return {
      payer: this.wallet.address,
      rentPayer: this.program.generation === 'current' ? operator : this.wallet.address,
      payee: request.recipient,
      mint: address(USDC),
      authorizedSigner: address(this.buyer.authorizedSigner),
      salt: 7n,
      deposit: 1_000_000n,
      gracePeriodSeconds: 900,
      openSlot: this.program.generation === 'current' ? BigInt(request.recentSlot) : null,
      shares: request.splits.map(({ recipient, bps }: { recipient: Address; bps: number }) => ({ recipient, bps })),
      tokenProgram: TOKEN_PROGRAM as Address,
      ...change,
    };
  }

  /** Credential of an opening signed by the payer alone. `extra` adds instructions to the transaction. */
  async pull(change: Partial<ChannelOpening> = {}, { extra = [] as Instruction[], feePayer = '' } = {}): Promise<object> {
    const opening = this.opening(change);
    const { operator, recentBlockhash } = this.session.challenge.request;
    const instruction = addSignersToInstruction([this.wallet], openChannelInstruction(this.program, opening));
    const message = pipe(
      createTransactionMessage({ version: 0 }),
      (m) => setTransactionMessageFeePayerSigner(createNoopSigner(address(feePayer || operator)), m),
      (m) => setTransactionMessageLifetimeUsingBlockhash({ blockhash: recentBlockhash as Blockhash, lastValidBlockHeight: 0n }, m),
      (m) => appendTransactionMessageInstructions([instruction, ...extra], m),
    );
    const transaction = getBase64EncodedWireTransaction(await partiallySignTransactionMessageWithSigners(message));
    return { ...this.#said(opening), mode: 'pull', signature: '1'.repeat(64), transaction };
  }

  /** Credential of a channel that the payer opened without the service. */
  async push(change: Partial<ChannelOpening> = {}): Promise<object> {
    const opening = this.opening({ rentPayer: this.wallet.address, ...change });
    const instruction = addSignersToInstruction([this.wallet], openChannelInstruction(this.program, opening));
    const signature = await this.w.chain.send(this.wallet, [instruction as Instruction]);
    return { ...this.#said(opening), mode: 'push', signature };
  }

  #said(opening: ChannelOpening) {
    const { address: channelId } = findChannelAddress(this.program, opening);
    this.buyer.channelId = channelId;
    const { payer, payee, mint, deposit, salt, gracePeriodSeconds: gracePeriod } = opening;
    const signer = { authorizedSigner: this.buyer.authorizedSigner };
    return { action: 'open', channelId, ...signer, payer, payee, mint, gracePeriod, deposit: `${deposit}`, salt: `${salt}` };
  }

  voucherOf = (cumulative: bigint) => this.buyer.voucher(cumulative, { program: this.program });

  async use(amount: bigint, cumulative: bigint) {
    const { body: directive } = await this.announce(`${amount}`);
    return this.commit({ deliveryId: directive.deliveryId, voucher: this.voucherOf(cumulative) });
  }

  #account() {
    const { payer, payee, mint, rentPayer, tokenProgram } = this.opening();
    return { address: address(this.buyer.channelId), channel: { payer, payee, mint, rentPayer }, tokenProgram };
  }

  addDeposit(units: bigint): Promise<string> {
    return this.w.chain.send(this.wallet, [
      addSignersToInstruction([this.wallet], topUpInstruction(this.program, this.#account(), units)) as Instruction,
    ]);
  }

  requestClose(): Promise<string> {
    return this.w.chain.send(this.wallet, [
      addSignersToInstruction([this.wallet], requestCloseInstruction(this.program, this.#account())) as Instruction,
    ]);
  }

  #distribution() {
    const payout = { shares: this.opening().shares, treasuryOwner: this.program.treasuryOwners.devnet };
    return distributeInstruction(this.program, this.#account(), payout);
  }

  /** Sends a distribution, which any caller may do at any time. */
  distribute(): Promise<string> {
    return this.w.chain.send(this.wallet, [this.#distribution()]);
  }

  /** Instructions of a payout that a voucher's holder may send at any time. */
  payout(cumulative: bigint): Instruction[] {
    const { data, signature } = this.voucherOf(cumulative);
    const voucher = { channelId: address(data.channelId), cumulativeAmount: cumulative, expiresAt: BigInt(data.expiresAt) };
    const [publicKey, signed] = [this.buyer.authorizedSigner, signature].map((text) => base58.decode(text));
    const check = ed25519Instruction({ publicKey: publicKey!, signature: signed!, message: encodeVoucher(this.program, voucher) });
    return [check, settleInstruction(this.program, voucher), this.#distribution()];
  }

  payOut(cumulative: bigint, extra: Instruction[] = []): Promise<string> {
    return this.w.chain.send(this.wallet, [...this.payout(cumulative), ...extra]);
  }

  /** Seals and distributes after the grace period, which any caller may do. Nothing of the channel remains. */
  sealAndDistribute(): Promise<string> {
    return this.w.chain.send(this.wallet, [sealInstruction(this.program, this.#account()), this.#distribution()]);
  }

  async onChain(): Promise<Channel | string> {
    const { value } = await this.w.chain.call<{ value: { data: [string] } | null }>('getAccountInfo', this.buyer.channelId, {
      encoding: 'base64',
    });
    if (value === null) return 'gone';
    const channel = decodeChannel(this.program, base64.decode(value.data[0]));
    return channel.ok ? channel.value : channel.reason;
  }

  /** Sends the object's changes to the database and makes the row due for the sweep. */
  project(): Promise<void> {
    return projectSession(this.w, this.session.session_id);
  }

  /** Runs the object's alarm, the Worker's channel reading if due, and the object's projection. */
  async watch(): Promise<void> {
    await this.project();
    await this.project();
  }

  async payments() {
    const sql = `SELECT p.id, p.price_amount AS units, p.payer_wallet AS payer, p.receipt_id AS receipt, c.kind
      FROM payments p JOIN tx_claims c ON c.subject_id = p.id WHERE p.product_id = ? ORDER BY p.created_at, p.rowid`;
    const { results } = await this.w.env.DB.prepare(sql).bind(this.session.product_id).all<Record<string, string> & { payer: number[] }>();
    return results.map(({ payer, ...payment }) => ({ ...payment, payer: base58.encode(Uint8Array.from(payer)) }) as Record<string, string>);
  }

  async readEventTypes(): Promise<string[]> {
    const sql = "SELECT type FROM events WHERE subject_type = 'metered_session' AND subject_id = ? ORDER BY seq";
    const { results } = await prepareOnEvents(this.w.env.DB, sql).bind(this.session.session_id).all<{ type: string }>();
    return results.map(({ type }) => type);
  }
}
