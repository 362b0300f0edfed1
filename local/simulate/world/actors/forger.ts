import {
  AccountRole,
  type Address,
  address,
  appendTransactionMessageInstructions,
  compileTransaction,
  createTransactionMessage,
  decompileTransactionMessage,
  getBase64EncodedWireTransaction,
  getBase64Encoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  type Instruction,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import type { Sale, Shop } from '../../book/history.ts';
import { Actor } from './actor.ts';
import { newWallet } from './open-shop.ts';

const WALLET = 'forger';

/** Holder of a sandbox key who pays a live refund with a transaction of the simulated chain. Nothing live may change. */
export class Forger extends Actor {
  readonly verbs = [this.refundInSandbox];

  async refundInSandbox(): Promise<void> {
    const sale = this.#paidSale();
    const test = sale && (await this.#openTestSale(sale.shop));
    const prepared = test && (await this.#prepare(sale));
    if (!prepared) return;
    const key = sale.shop.sandboxKey;
    const named = { payment_id: test.payment_id, outcome: 'declined', wallet: WALLET };
    const asked = await this.persist('POST', '/v1/testing/pay', { key, body: named });
    if (asked?.status !== 200) return;
    const transaction = forge(prepared.transaction, { feePayer: address(asked.body.payer_wallet), over: test.transaction });
    const sent = await this.persist('POST', '/v1/testing/pay', { key, body: { transaction, wallet: WALLET } });
    const tx_signature = sent?.body?.tx_signature;
    this.note(
      `forged a refund of payment ${sale.paymentId} in the sandbox: ${sent?.status} ${tx_signature ?? sent?.body?.code ?? 'refused'}`,
    );
    if (tx_signature === undefined) return;
    const answer = await this.persist('POST', `/v1/payments/${test.payment_id}/refund-confirm`, { key, body: { tx_signature } });
    this.note(`reported it: ${answer?.status} ${answer?.body?.code ?? ''}`);
  }

  async #prepare({ paymentId, shop }: Sale) {
    const prepared = await this.persist('POST', `/v1/payments/${paymentId}/refund-transaction`, { key: shop.liveKey, body: {} });
    return prepared?.status === 200 ? prepared.body : null;
  }

  async #openTestSale(shop: Shop) {
    const product = this.anyProduct(shop, false);
    if (product === null) return null;
    const body = { wallet_address: newWallet(this, this.world.chain, 0n).address };
    const answer = await this.persist('POST', `/v1/products/p/${product.slug}/connect`, { body });
    return answer?.status === 200 ? answer.body : null;
  }

  #paidSale(): Sale | null {
    const paid = this.history.sales.filter(({ livemode, recipient, memo }) => {
      return livemode && this.history.landed(recipient).some(({ memos }) => memos.includes(memo));
    });
    return paid.length === 0 ? null : this.dice.oneOf(paid);
  }
}

type Message = ReturnType<typeof decompileTransactionMessage>;

const messageOf = (wire: string): Message =>
  decompileTransactionMessage(
    getCompiledTransactionMessageDecoder().decode(getTransactionDecoder().decode(getBase64Encoder().encode(wire)).messageBytes),
  );

/** Makes a transaction with the same instructions, without the signature of its payer, over the blockhash of another. */
function forge(wire: string, { feePayer, over }: { feePayer: Address; over: string }): string {
  const { feePayer: merchant, ...original } = messageOf(wire);
  const instructions = (original.instructions as readonly Instruction[]).map((one) => withoutSigner(one, merchant.address));
  const { lifetimeConstraint } = messageOf(over) as Message & {
    lifetimeConstraint: Parameters<typeof setTransactionMessageLifetimeUsingBlockhash>[0];
  };
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (draft) => setTransactionMessageFeePayer(feePayer, draft),
    (draft) => setTransactionMessageLifetimeUsingBlockhash(lifetimeConstraint, draft),
    (draft) => appendTransactionMessageInstructions(instructions, draft),
  );
  return getBase64EncodedWireTransaction(compileTransaction(message));
}

const withoutSigner = (instruction: Instruction, signer: Address): Instruction => ({
  ...instruction,
  accounts: (instruction.accounts ?? []).map((account) =>
    account.address === signer ? { ...account, role: AccountRole.READONLY } : account,
  ),
});
