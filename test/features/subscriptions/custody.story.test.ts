import {
  type Address,
  address,
  addSignersToInstruction,
  appendTransactionMessageInstructions,
  type Blockhash,
  createKeyPairSignerFromPrivateKeyBytes,
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
import { getApproveInstruction, getCloseAccountInstruction, getTransferCheckedInstruction } from '@solana-program/token';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { base64url } from '#core/encoding.ts';
import { TOKEN_PROGRAM } from '#solana/assets.ts';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';
import {
  cancelInstruction,
  closeAuthorityInstruction,
  collectInstruction,
  deletePlanInstruction,
  initAuthorityInstruction,
  resumeInstruction,
  revokeInstruction,
  updatePlanInstruction,
} from '#solana/programs/subscriptions/instructions.ts';
import { findAuthorityAddress } from '#solana/programs/subscriptions/subscription.ts';
import { USDC } from '../../support/chain/chain.ts';
import {
  COLLECTING_KEYS,
  collectingWorld,
  collectorOf,
  PRICE,
  type SubscriptionLife,
  SubscriptionSeller,
} from '../../support/models/subscription-life.ts';
import { endSkips, skipTime } from '../../support/runner/clock.ts';

const DAY = 86_400;

/** Removes the signers of an instruction, so that it needs their signatures and has none. */
const plain = (instruction: Instruction): Instruction => ({
  ...instruction,
  accounts: instruction.accounts!.map(({ address: at, role }) => ({ address: at, role })),
});

describe('stolen collector key', () => {
  const w = collectingWorld();
  const mint = address(USDC);
  const tokenProgram = TOKEN_PROGRAM as Address;
  let seller: SubscriptionSeller;
  let life: SubscriptionLife;
  let thief: KeyPairSigner;
  let key: KeyPairSigner;
  beforeAll(async () => {
    seller = await SubscriptionSeller.open(w);
    life = await seller.subscribe();
    thief = await w.chain.wallet(0n);
    await w.chain.call('local_fundUsdc', thief.address, '0');
    key = await createKeyPairSignerFromPrivateKeyBytes(Uint8Array.from(base64url.decode(COLLECTING_KEYS)));
    await skipTime(w.chain, 31 * DAY);
  });
  afterAll(endSkips);

  /** Sends with the key as only signer and fee payer. Returns the refusal of the chain. */
  const attempt = async (...instructions: Instruction[]): Promise<string> => {
    const { value } = await w.chain.call<{ value: { blockhash: string; lastValidBlockHeight: number } }>('getLatestBlockhash');
    const message = pipe(
      createTransactionMessage({ version: 0 }),
      (m) => setTransactionMessageFeePayerSigner(key, m),
      (m) =>
        setTransactionMessageLifetimeUsingBlockhash(
          { blockhash: value.blockhash as Blockhash, lastValidBlockHeight: BigInt(value.lastValidBlockHeight) },
          m,
        ),
      (m) =>
        appendTransactionMessageInstructions(
          instructions.map((one) => addSignersToInstruction([key], one) as Instruction),
          m,
        ),
    );
    const wire = getBase64EncodedWireTransaction(await partiallySignTransactionMessageWithSigners(message));
    return w.chain.call('sendTransaction', wire, { encoding: 'base64' }).then(
      () => 'done',
      (error: Error) => `refused: ${error.message}`,
    );
  };
  const replaceSigner = (signer: string, { accounts = [], ...instruction }: Instruction): Instruction => ({
    ...instruction,
    accounts: accounts.map((account) => (account.address === signer ? { ...account, address: key.address } : account)),
  });
  const holdings = async () => ({
    buyer: await w.chain.held(life.subscriber.wallet.address),
    thief: await w.chain.held(thief.address),
    merchant: await w.chain.held(seller.merchant.wallet.address),
  });
  const collect = (receiver: Address, amount = PRICE) =>
    collectInstruction(life.subscriber.route, { puller: key.address, receiver, amount, mint, tokenProgram });

  it('the key under test is the configured collector, and it holds no token account', async () => {
    expect(key.address).toBe(collectorOf(w));
    const [[, , data]] = (await w.chain.accounts([await associatedTokenAccount(key.address, USDC)])) as [[string, string, string]];
    expect(data).toBe('');
  });

  it('the key moves nothing to a wallet of the thief and changes neither plan nor consent', async () => {
    const before = await holdings();
    const { subscriber } = life;
    const { owner, planId, pullers, metadataUri } = seller.draft.plan;
    const [source, theirs] = [
      address(await associatedTokenAccount(subscriber.wallet.address, USDC)),
      address(await associatedTokenAccount(thief.address, USDC)),
    ];
    const authority = findAuthorityAddress(subscriber.wallet.address, mint).address;
    const transferBy = (by: Address) =>
      plain(
        getTransferCheckedInstruction({
          source,
          mint,
          destination: theirs,
          authority: createNoopSigner(by),
          amount: PRICE,
          decimals: 6,
        }),
      );
    const user = { user: subscriber.wallet.address, mint, tokenProgram };
    const buyersOwn: Record<string, Instruction> = {
      approves: initAuthorityInstruction(user),
      'closes the authority': closeAuthorityInstruction(user),
      cancels: cancelInstruction(subscriber.route),
      resumes: resumeInstruction(subscriber.route, mint),
      revokes: revokeInstruction(subscriber.route),
    };
    const merchantsOwn: Record<string, Instruction> = {
      'names other pullers': updatePlanInstruction(owner, planId, {
        status: 'active',
        endTs: 0n,
        pullers: [...pullers, thief.address],
        metadataUri,
      }),
      'closes the plan': deletePlanInstruction(owner, planId),
    };
    const attempts: Record<string, Instruction[]> = {
      'collects into another account': [collect(thief.address)],
      'collects more than the price': [collect(seller.merchant.wallet.address, PRICE + 1n)],
      'transfers as itself': [transferBy(key.address)],
      'transfers as the authority': [transferBy(authority)],
      'transfers as the buyer': [transferBy(subscriber.wallet.address)],
      'makes itself the delegate': [
        plain(getApproveInstruction({ source, delegate: key.address, owner: createNoopSigner(key.address), amount: PRICE })),
      ],
      'closes the buyer’s account': [
        plain(getCloseAccountInstruction({ account: source, destination: thief.address, owner: createNoopSigner(key.address) })),
      ],
    };
    for (const [name, instruction] of Object.entries({ ...buyersOwn, ...merchantsOwn })) {
      attempts[`${name}, unsigned`] = [instruction];
      attempts[`${name}, in their place`] = [replaceSigner(name in buyersOwn ? subscriber.wallet.address : owner, instruction)];
    }
    const outcomes: Record<string, string> = {};
    for (const [name, instructions] of Object.entries(attempts)) outcomes[name] = await attempt(...instructions);
    expect(Object.entries(outcomes).filter(([, outcome]) => !outcome.startsWith('refused: '))).toEqual([]);
    expect(await holdings()).toEqual(before);
  });

  it('the key collects at most one period for its merchant', async () => {
    const before = await holdings();
    expect(await attempt(collect(seller.merchant.wallet.address))).toBe('done');
    expect(await attempt(collect(seller.merchant.wallet.address))).toContain('refused');
    expect(await holdings()).toEqual({ ...before, buyer: before.buyer - PRICE, merchant: before.merchant + PRICE });
  });
});
