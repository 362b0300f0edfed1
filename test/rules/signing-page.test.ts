import { type Address, address } from '@solana/kit';
import { describe, expect, it } from 'vitest';
import { buildUnsigned } from '#solana/checkout-transaction.ts';
import { FIRST_SIGNING, nextSigning, type SigningFacts, type SigningNews, type SigningState } from '../../worker/pages/signing/machine.ts';

const SELLER = 'Av7QWv6RRdrFxbb9GXWM1g8Gut59feSWcr9tRBia7xZa' as Address;
const LIFETIME = { blockhash: SELLER, lastValidBlockHeight: 1n };
const FACTS = { locale: 'en', text: {}, usdcMints: [] } as unknown as SigningFacts;
const BUDGET = address('ComputeBudget111111111111111111111111111111');
const MEMO = address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');

const memo = { programAddress: MEMO, accounts: [], data: Uint8Array.of(104, 105) };
/** Sets the price per compute unit, in micro-lamports. */
const priced = (price: bigint) => {
  const data = new Uint8Array(9);
  data[0] = 3;
  new DataView(data.buffer).setBigUint64(1, price, true);
  return { programAddress: BUDGET, accounts: [], data };
};
const pasted = (...steps: Parameters<typeof buildUnsigned>[1]): SigningNews => ({
  kind: 'pasted',
  text: buildUnsigned(SELLER, steps, LIFETIME),
});
const play = (...news: SigningNews[]): SigningState => news.reduce((state, one) => nextSigning(FACTS, state, one).state, FIRST_SIGNING);

describe('signing page machine', () => {
  it('a transaction with a priority fee above 0.01 SOL is not offered to a wallet', () => {
    // A transaction without a limit counts 200,000 units.
    const dear = play(pasted(priced(50_000_001n), memo));
    expect(dear).toMatchObject({ step: 'choosing', request: { obstacle: { key: 'gPriorityHelp' }, priorityFee: 10_000_001n } });
    expect(nextSigning(FACTS, dear, { kind: 'walletPressed', walletName: 'W' })).toEqual({ state: dear, effects: [] });
    expect(play(pasted(priced(50_000_000n), memo))).toMatchObject({ step: 'choosing', request: { obstacle: null } });
  });

  it('the wallet opens the account named by the transaction, and another account is refused with its signer', () => {
    const read = play(pasted(memo));
    const { state, effects } = nextSigning(FACTS, read, { kind: 'walletPressed', walletName: 'W' });
    expect(effects).toEqual([{ kind: 'openWallet', attempt: 1, walletName: 'W', signer: SELLER }]);
    const other = nextSigning(FACTS, state, { kind: 'walletOpened', attempt: 1, account: MEMO });
    expect(other.effects).toEqual([]);
    expect(other.state).toMatchObject({ step: 'choosing', problem: { key: 'gNotYours', values: { signer: SELLER } } });
  });

  it('a transaction sent after the person went back is shown as done, and an unsent signature is ignored', () => {
    const asked: SigningNews[] = [
      pasted(memo),
      { kind: 'walletPressed', walletName: 'W' },
      { kind: 'walletOpened', attempt: 1, account: SELLER },
      { kind: 'backPressed' },
    ];
    expect(play(...asked)).toMatchObject({ step: 'choosing' });
    expect(play(...asked, { kind: 'signed', attempt: 1, signed: 'unsent', txSignature: 's' })).toMatchObject({ step: 'choosing' });
    expect(play(...asked, { kind: 'signed', attempt: 1, signed: null, txSignature: 's' })).toMatchObject({
      step: 'done',
      txSignature: 's',
      signed: null,
    });
  });
});
