import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Failure } from '../../worker/pages/parts/answer.ts';
import type { AuthorizationStatus, SubscribeFacts } from '../../worker/pages/subscribing/facts.ts';
import { holdsTurn, nextSubscribing } from '../../worker/pages/subscribing/machine.ts';
import {
  FIRST_SUBSCRIBING,
  type Progress,
  type SubscribingEffect,
  type SubscribingNews,
  type SubscribingState,
} from '../../worker/pages/subscribing/state.ts';

const FACTS = { page: 'subscribe', network: 'devnet', text: { devnet: 'Solana devnet' } } as unknown as SubscribeFacts;
const progress = (steps: Progress['steps'], changed: Partial<Progress> = {}): Progress => ({
  paymentId: 'p1',
  status: 'PENDING_SIGNATURE',
  failureCode: null,
  receiptId: null,
  redirectUrl: null,
  authorizationId: 'nsa_1',
  steps,
  problem: null,
  manageUrl: null,
  renewal: null,
  accessUntil: null,
  expiresAt: '2026-11-22T20:00:00.000Z',
  ...changed,
});
const APPROVE = { kind: 'approve', transaction: 'A' } as const;
const LATER = { kind: 'subscribe', transaction: null } as const;
const SUBSCRIBE = { kind: 'subscribe', transaction: 'S' } as const;

function play(news: SubscribingNews[], from: SubscribingState = FIRST_SUBSCRIBING) {
  let state = from;
  const effects: SubscribingEffect[] = [];
  for (const one of news) {
    const turn = nextSubscribing(FACTS, state, one);
    state = turn.state;
    effects.push(...turn.effects);
  }
  return { state, effects, kinds: effects.map(({ kind }) => kind) };
}

const TO_FIRST: SubscribingNews[] = [
  { kind: 'walletPressed', walletName: 'W' },
  { kind: 'walletOpened', attempt: 1, account: 'buyer' },
  { kind: 'prepared', progress: progress([APPROVE, LATER]) },
];
const SIGN_FIRST: SubscribingNews[] = [
  { kind: 'continuePressed' },
  { kind: 'signed', attempt: 1, transaction: 'A!', txSignature: 'a' },
  { kind: 'sent' },
];

describe('subscription checkout machine', () => {
  it('a wallet asked in another tab is not asked again, and the page says so', () => {
    const { state } = play([...TO_FIRST, { kind: 'continuePressed' }]);
    expect(holdsTurn(state)).toBe(true);
    const refused = play([{ kind: 'turnRefused', attempt: 1 }], state);
    expect(refused.state).toMatchObject({ step: 'choosing', problem: { key: 'pElsewhere' } });
    expect([refused.effects, holdsTurn(refused.state)]).toEqual([[], false]);
    expect(play([{ kind: 'turnRefused', attempt: 0 }], state).state).toEqual(state);
    // The tab holds the turn until the signed step has landed, so no other tab signs meanwhile.
    const landing = play(SIGN_FIRST.slice(1), state);
    expect([landing.state.step, holdsTurn(landing.state)]).toEqual(['landing', true]);
    const done = play([{ kind: 'progressed', progress: progress([SUBSCRIBE]) }], landing.state);
    expect([done.state.step, holdsTurn(done.state)]).toEqual(['explaining', false]);
  });

  it('a wallet that is already subscribed ends at the existing subscription', () => {
    const { state } = play([...TO_FIRST, ...SIGN_FIRST]);
    const subscribed = progress([], { problem: 'subscribed', manageUrl: 'https://svc.test/s/nsa_9' });
    const result = play([{ kind: 'progressed', progress: subscribed }], state);
    expect(result.state).toMatchObject({ step: 'already', path: '/s/nsa_9' });
    expect(result.effects).toEqual([{ kind: 'store', stored: null }]);
    const failure = { code: 'state_conflict', meta: { reason: 'subscribed', authorization_id: 'nsa_9' } } as unknown as Failure;
    const refused = play([...TO_FIRST.slice(0, 2), { kind: 'refused', failure }]);
    expect(refused.state).toMatchObject({ step: 'already', path: '/s/nsa_9' });
    expect(play([{ kind: 'startAgainPressed' }], refused.state).state).toMatchObject({ step: 'choosing', problem: null });
  });

  it('the QR code of the page is shown on request and stays shown', () => {
    const { state } = play([{ kind: 'phonePressed' }]);
    expect(state).toMatchObject({ step: 'choosing', isPhoneOpen: true });
    expect(play([...TO_FIRST.slice(0, 1), { kind: 'backPressed' }], state).state).toMatchObject({ step: 'choosing', isPhoneOpen: true });
  });

  it('the wallet is asked only after the step was explained', () => {
    const { state, kinds } = play(TO_FIRST);
    expect(state).toMatchObject({ step: 'explaining', consent: { kind: 'approve', step: 1, steps: 2 } });
    expect(kinds).toEqual(['openWallet', 'prepare', 'store']);
    expect(play([{ kind: 'continuePressed' }], state).effects).toEqual([{ kind: 'ask', attempt: 1, transaction: 'A' }]);
  });

  it('the next step is explained after the previous one has landed', () => {
    const landing = play([...TO_FIRST, ...SIGN_FIRST]).state;
    expect(landing.step).toBe('landing');
    const waiting = play([{ kind: 'progressed', progress: progress([APPROVE, LATER]) }], landing);
    expect([waiting.state.step, waiting.kinds]).toEqual(['landing', ['look']]);
    const next = play([{ kind: 'progressed', progress: progress([SUBSCRIBE]) }], waiting.state);
    expect(next.state).toMatchObject({ step: 'explaining', consent: { kind: 'subscribe', step: 2, steps: 2 } });
  });

  it('collection starts after the last signature, and ends with the receipt', () => {
    const collecting = play([...TO_FIRST, ...SIGN_FIRST, { kind: 'progressed', progress: progress([]) }]);
    expect(collecting.state.step).toBe('collecting');
    expect(collecting.effects.at(-1)).toMatchObject({ kind: 'look', asksChain: true, txSignature: 'a' });
    const done = play([{ kind: 'progressed', progress: progress([], { status: 'CONFIRMED', receiptId: 'r' }) }], collecting.state);
    expect(done.state).toMatchObject({ step: 'done', receiptId: 'r', authorizationId: 'nsa_1' });
    expect(done.effects).toEqual([{ kind: 'store', stored: { paymentId: 'p1', payer: 'buyer' } }]);
  });

  it('a stored subscription is shown while it runs and forgotten afterwards', () => {
    const opened = { kind: 'pageOpened', stored: { paymentId: 'p1', payer: 'buyer' } } as const;
    const renewedAs = (status: AuthorizationStatus) =>
      play([opened, { kind: 'progressed', progress: progress([], { status: 'CONFIRMED', renewal: { status, nextChargeAt: null } }) }]);
    for (const status of ['active', 'past_due'] as const)
      expect(renewedAs(status).state, status).toMatchObject({ step: 'done', authorizationId: 'nsa_1' });
    for (const status of ['cancel_requested', 'cancelled', 'requires_reapproval', 'expired'] as const) {
      const { state, effects } = renewedAs(status);
      expect([state.step, state.paymentId, effects.at(-1)], status).toEqual(['choosing', null, { kind: 'store', stored: null }]);
    }
  });

  it('a failed first collection is shown, and an expired payment of an earlier visit is forgotten', () => {
    const collecting = play([...TO_FIRST, ...SIGN_FIRST, { kind: 'progressed', progress: progress([]) }]).state;
    const failed = progress([], { status: 'FAILED', failureCode: 'collection_failed' });
    expect(play([{ kind: 'progressed', progress: failed }], collecting).state).toMatchObject({ step: 'failed', isCollection: true });
    const old = { paymentId: 'p0', payer: 'buyer' };
    const over = progress([], { status: 'FAILED', failureCode: 'session_expired' });
    const { state, effects } = play([
      { kind: 'pageOpened', stored: old },
      { kind: 'progressed', progress: over },
    ]);
    expect([state.step, state.paymentId, effects.at(-1)]).toEqual(['choosing', null, { kind: 'store', stored: null }]);
  });

  it('a stored payment is continued only by the same wallet', () => {
    const stored = { paymentId: 'p0', payer: 'buyer' };
    const opened = (account: string) =>
      play([
        { kind: 'pageOpened', stored },
        { kind: 'walletPressed', walletName: 'W' },
        { kind: 'walletOpened', attempt: 1, account },
      ]).effects.at(-1);
    expect(opened('buyer')).toEqual({ kind: 'prepare', account: 'buyer', paymentId: 'p0' });
    expect(opened('another')).toEqual({ kind: 'prepare', account: 'another', paymentId: null });
  });

  it('only the transaction signed for the current request is sent, in any order of events', () => {
    const arbitrary = fc.constantFrom<SubscribingNews>(
      ...TO_FIRST,
      ...SIGN_FIRST,
      { kind: 'backPressed' },
      { kind: 'signed', attempt: 2, transaction: 'late', txSignature: 'l' },
      { kind: 'walletRefused', attempt: 1, refusal: 'rejected' },
      { kind: 'progressed', progress: progress([SUBSCRIBE]) },
      { kind: 'progressed', progress: progress([]) },
      { kind: 'unanswered' },
      { kind: 'startAgainPressed' },
      { kind: 'cancelled', subscription: { status: 'cancelled', nextChargeAt: null, paidThrough: null }, effectiveAt: null },
    );
    fc.assert(
      fc.property(fc.array(arbitrary, { maxLength: 40 }), (events) => {
        let state = FIRST_SUBSCRIBING;
        let asked = 0;
        for (const event of events) {
          const { state: after, effects } = nextSubscribing(FACTS, state, event);
          for (const effect of effects) {
            if (effect.kind === 'ask') {
              expect(state.step).toBe('explaining');
              asked++;
            }
            if (effect.kind === 'send') expect([state.step, asked-- > 0]).toEqual(['asking', true]);
          }
          if (after.step === 'choosing' || after.step === 'explaining') asked = 0;
          state = after;
        }
      }),
    );
  });
});
